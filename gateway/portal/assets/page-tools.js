// Functions that the scripts of pages share. They insert text as text, never as markup, because names and ids come from clients.

export function element(name, attributes = {}, ...children) {
  return withAttributes(document.createElement(name), attributes, children);
}

/** An element of a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return withAttributes(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function withAttributes(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** 32 hexadecimal digits. `crypto.randomUUID` is missing on pages that came by HTTP from another machine. */
export function randomText() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Copies the text of an element when the button is pressed, and says so on the button. `replaced` changes the text on its way. */
export function copyOnPress(button, code, replaced = (text) => text) {
  button.addEventListener('click', async () => {
    const isDone = await navigator.clipboard.writeText(replaced(code.textContent)).then(
      () => true,
      () => copyBySelection(code),
    );
    button.textContent = isDone ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}

/** Where pages may not write to the clipboard, as over HTTP from another machine. */
function copyBySelection(code) {
  getSelection().selectAllChildren(code);
  return document.execCommand('copy');
}

/** Where a request is explained by its id: on the account page; undefined if there is none. */
export function explanationAddress(id) {
  const hasAccount = document.querySelector('.top a[href="/docs/account"]') !== null;
  return hasAccount && /^[\w-]{1,128}$/.test(id) ? `/docs/account#request=${id}` : undefined;
}
