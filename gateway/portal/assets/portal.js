// Every page of the documentation: copy buttons, the language of samples, the reader's key, search and theme. Pages can be read
// without this.

import { openKeyBar, withKey } from './key.js';
import { copyOnPress } from './page-tools.js';
import { openThemeSwitch } from './theme.js';

const LANGUAGE = 'portal-language';

function addCopyButtons() {
  for (const button of document.querySelectorAll('.copy')) {
    button.hidden = false;
    copyOnPress(button, button.parentElement.querySelector('code'), withKey);
  }
  // A selection, too, is copied with the key in place of its dots.
  document.addEventListener('copy', (event) => {
    const text = String(getSelection());
    const whole = withKey(text);
    if (whole === text || event.clipboardData === null) return;
    event.clipboardData.setData('text/plain', whole);
    event.preventDefault();
  });
}

/** The whole page as Markdown, to paste into an assistant. */
function openPageCopy() {
  const button = document.querySelector('.copy-page');
  // Pages that came by HTTP from another machine have no clipboard to write to.
  if (button === null || navigator.clipboard === undefined) return;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const text = fetch(button.previousElementSibling.href).then((answer) => answer.text());
    // Safari copies what is asked for within the click only.
    const item = new ClipboardItem({ 'text/plain': text.then((one) => new Blob([one], { type: 'text/plain' })) });
    button.textContent = await navigator.clipboard.write([item]).then(
      () => 'Copied',
      () => 'Cannot copy',
    );
  });
}

/** The language that was chosen last is shown in all samples, on every page. */
function rememberLanguage() {
  const choose = (language) => {
    for (const input of document.querySelectorAll('[data-tabs^="language"] input'))
      if (input.value === language) input.checked = true;
  };
  const known = sessionStorage.getItem(LANGUAGE);
  if (known !== null) choose(known);
  document.addEventListener('change', ({ target }) => {
    if (!/^language/.test(target.name ?? '')) return;
    const top = target.getBoundingClientRect().top;
    sessionStorage.setItem(LANGUAGE, target.value);
    choose(target.value);
    // Samples above may have another height in this language, but the text that the reader looks at stays where it is.
    scrollBy(0, target.getBoundingClientRect().top - top);
  });
}

/** The search is loaded when a reader turns to it. */
function openSearch(field) {
  if (field === null) return;
  field.addEventListener('focus', async () => (await import('./search.js')).openSearch(field), { once: true });
  document.addEventListener('keydown', (event) => {
    const isWriting = event.target.closest('input, textarea, select');
    const isWithControl = event.ctrlKey || event.metaKey;
    const isSlash = event.key === '/' && !isWriting && !isWithControl;
    const isK = event.key.toLowerCase() === 'k' && isWithControl && !event.shiftKey;
    if (!(isSlash || isK) || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

/** The target of the address is shown, however deep it is folded. */
function unfoldTarget() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id === '' ? null : document.getElementById(id);
  if (target === null || target.id === 'contents') return;
  for (let at = target; at !== null; at = at.parentElement) if (at.localName === 'details') at.open = true;
  target.scrollIntoView();
}

/**
 * On narrow windows, the contents cover the page while the address names them. Escape and "Close" lead back to the link that opened them.
 */
function closeContents() {
  const opener = document.querySelector('.open-contents a');
  if (opener === null) return;
  const close = (event) => {
    if (location.hash !== '#contents' || opener.checkVisibility() === false) return;
    event.preventDefault();
    // The target of the address changes by navigation only.
    location.replace('#main');
    requestAnimationFrame(() => opener.focus());
  };
  document.querySelector('.close-contents a').addEventListener('click', close);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close(event);
  });
}

/** In long lists of links the current one is in view, and among the parts of the documentation on narrow windows. */
function showCurrentLink() {
  const parts = document.querySelector('.sections ul');
  const part = parts?.querySelector('[aria-current]');
  if (part) parts.scrollLeft = part.offsetLeft - parts.offsetLeft - (parts.clientWidth - part.offsetWidth) / 2;
  const links = document.getElementById('contents');
  const current = links?.querySelector('[aria-current="page"]');
  if (!current || links.scrollHeight <= links.clientHeight) return;
  const top = current.getBoundingClientRect().top - links.getBoundingClientRect().top;
  if (top > links.clientHeight * 0.8) links.scrollTop = top - links.clientHeight / 2;
}

addCopyButtons();
rememberLanguage();
openKeyBar(document.getElementById('key-bar'));
openThemeSwitch(document.getElementById('theme'));
openPageCopy();
openSearch(document.getElementById('search'));
showCurrentLink();
closeContents();
addEventListener('hashchange', unfoldTarget);
unfoldTarget();
