// The sound of a card that is laid: off until somebody turns it on.

import { h, t } from "./dom.js";
import { keep, kept } from "./kept.js";

const SOUND = "krypenv sound"; // under which this browser keeps whether it is on
const LENGTH = 0.06; // seconds

let isOn = kept(SOUND, false);
/** @type {AudioContext | null} */
let audio = null;

/** Return the button that turns the sound on and off. */
export function soundButton() {
  const named = { "data-focus": "sound", "aria-label": t("sound"), title: t("sound"), "aria-pressed": String(isOn) };
  const made = h("button", { ...named, onclick: toggle }, "♪");
  return made;

  function toggle() {
    isOn = !isOn;
    keep(SOUND, isOn);
    made.setAttribute("aria-pressed", String(isOn));
    tap();
  }
}

/** Sound as a card does on cloth: noise that dies away. */
export function tap() {
  if (!isOn) return;
  audio ??= new AudioContext();
  const buffer = audio.createBuffer(1, audio.sampleRate * LENGTH, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let at = 0; at < samples.length; at += 1)
    samples[at] = (Math.random() - 0.5) * Math.exp((-6 * at) / samples.length);
  const source = new AudioBufferSourceNode(audio, { buffer });
  source.connect(new BiquadFilterNode(audio, { type: "lowpass", frequency: 1400 })).connect(audio.destination);
  source.start();
}
