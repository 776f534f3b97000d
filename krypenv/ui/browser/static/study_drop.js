// A record that is dropped on the table is studied: it is handed over to the page for that.

const DROPPED = "krypenv dropped record"; // the page that studies games looks for it under this name
const LARGEST = 65536 * 4; // bytes of a record

document.addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
});
document.addEventListener("drop", async (event) => {
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  event.preventDefault();
  const text = await file.slice(0, LARGEST).text();
  try {
    sessionStorage.setItem(DROPPED, text);
  } catch {
    return; // a browser that keeps nothing
  }
  location.href = `study.html${location.hash}`;
});
