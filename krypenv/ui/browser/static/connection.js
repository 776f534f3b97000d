// The page's connection to the server: it is made anew when it is lost, and the page says why there was never one.

const RETRY = 1000; // milliseconds between attempts to connect
const ENGLISH = {
  gone: "The table can't be reached: it has ended, or the network is down. Trying again …",
  origin: "The table does not know the address of this page. Start it with: --origin",
  proxy: "The connection to the table does not get through: a proxy on the way is to pass on WebSockets.",
};
const SWEDISH = {
  gone: "Bordet går inte att nå: det är avslutat, eller så ligger nätet nere. Försöker igen …",
  origin: "Bordet känner inte till sidans adress. Starta det med: --origin",
  proxy: "Anslutningen till bordet kommer inte fram: en proxy på vägen ska släppa igenom WebSockets.",
};

/**
 * Keep a connection to a path beside the page; return what sends a request, if it is there.
 * @param {string} path
 * @param {(message: any) => void} hear takes each message
 * @param {() => void} lose is told that the connection is lost
 * @param {(reason: string) => void} end is told why there is none
 * @returns {(request: object) => void}
 */
export function connect(path, hear, lose, end) {
  /** @type {WebSocket} */
  let socket;
  let wasThere = false;
  let said = "";

  function open() {
    const address = new URL(path, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    let isRefused = false;
    socket = new WebSocket(address);
    socket.addEventListener("open", () => send({ do: "sit", key: location.hash.slice(1) }));
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      wasThere = true;
      if (message.type === "closed") {
        isRefused = true;
        end(message.say);
      } else hear(message);
    });
    socket.addEventListener("close", async () => {
      if (isRefused) return;
      if (wasThere) lose();
      else {
        const reason = await reasonOf(path);
        if (reason !== said) end(reason);
        said = reason;
      }
      setTimeout(open, RETRY);
    });
  }

  /** @param {object} request */
  function send(request) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
  }

  open();
  return send;
}

/**
 * Return why there is no connection: browsers tell it of a request, but not of a socket.
 * @param {string} path
 */
async function reasonOf(path) {
  const texts = navigator.language.startsWith("sv") ? SWEDISH : ENGLISH;
  try {
    const { status } = await fetch(path, { method: "POST", cache: "no-store" }); // only then the origin is sent
    if (status === 403) return `${texts.origin} ${new URL(".", location.href)}`;
    return status < 500 ? texts.proxy : texts.gone;
  } catch {
    return texts.gone;
  }
}
