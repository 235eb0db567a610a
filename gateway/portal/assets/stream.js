// Shows a response that stays open: its state, its events, and a button that stops it.

import { element } from './page-tools.js';

/** Matches a line of an event, or of JSON. Does not match a comment, or the time after which a client reconnects. */
const EVENT = /^(?!retry:|:)\S/m;

/** Ends the stream that is shown, because another request is sent in its place. */
let stopShown = () => {};

/** Returns the line with the state of the stream and a button that stops it. */
export function followStream(answer, code, bytesMax) {
  const says = element('span', {}, 'Connected, waiting for events.');
  const button = element('button', { type: 'button', class: 'stop' }, 'Stop');
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let isStopped = false;
  stopShown = () => {
    isStopped = true;
    return reader.cancel();
  };
  button.addEventListener('click', stopShown);
  readTo(reader, (text) => {
    code.append(text);
    if (EVENT.test(text)) says.textContent = 'Receiving.';
    return code.textContent.length < bytesMax;
  }).then(
    () => end(isStopped ? 'Stopped.' : 'The response has ended.'),
    ({ message }) => end(isStopped ? 'Stopped.' : `The connection broke: ${message}`),
  );

  function end(text) {
    says.textContent = text;
    button.hidden = true;
  }

  return element('p', { class: 'try-stream' }, says, button);
}

export function stopStream() {
  stopShown();
  stopShown = () => {};
}

async function readTo(reader, take) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (!take(value)) return reader.cancel();
  }
}
