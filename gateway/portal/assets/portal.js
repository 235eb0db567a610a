// Every page of the documentation: copy buttons, the language of samples, and the reader's key. The key and the language stay in the tab
// (sessionStorage). Pages can be read without this.

import { copyOnPress } from './page-tools.js';
import { openSearch } from './search.js';

const KEY = 'portal-key';
const LANGUAGE = 'portal-language';
const PLACEHOLDER = 'YOUR_API_KEY';
/** What may stand in a header and in a quotation of every language: keys and tokens. */
const KEY_FORM = /^[A-Za-z0-9._~+/=-]{8,4096}$/;

export function storedKey() {
  return sessionStorage.getItem(KEY) ?? '';
}

function addCopyButtons() {
  for (const button of document.querySelectorAll('.copy')) {
    button.hidden = false;
    copyOnPress(button, button.parentElement.querySelector('code'));
  }
}

/** The language that was chosen last is shown on every page. */
function rememberLanguage() {
  const choose = (language) => {
    for (const input of document.querySelectorAll('[data-tabs="language"] input'))
      input.checked = input.value === language;
  };
  const known = sessionStorage.getItem(LANGUAGE);
  if (known !== null && document.getElementById(`language-${known}`)) choose(known);
  document.addEventListener('change', ({ target }) => {
    if (target.name !== 'language') return;
    sessionStorage.setItem(LANGUAGE, target.value);
  });
}

function showKey() {
  const key = storedKey();
  for (const place of document.querySelectorAll('.key')) place.textContent = key || PLACEHOLDER;
  return key;
}

function takeKey() {
  const field = document.getElementById('key');
  if (field === null) return;
  const forget = document.getElementById('forget-key');
  const note = document.getElementById('key-note');
  const hint = note.textContent;
  const refuse = (text) => {
    note.textContent = text;
    field.setAttribute('aria-invalid', 'true');
  };
  const show = () => {
    forget.hidden = showKey() === '';
    field.removeAttribute('aria-invalid');
    note.textContent = hint;
  };
  field.value = storedKey();
  show();
  field.addEventListener('input', () => {
    const text = field.value.trim().replace(/^Bearer\s+/i, '');
    sessionStorage.removeItem(KEY);
    if (/^sk_live_/.test(text)) {
      show();
      return refuse('This is a live key. Use a test key here: it begins with sk_test_.');
    }
    if (text !== '' && !KEY_FORM.test(text)) {
      show();
      return refuse('This is not a whole key.');
    }
    if (text !== '') sessionStorage.setItem(KEY, text);
    show();
  });
  forget.addEventListener('click', () => {
    sessionStorage.removeItem(KEY);
    field.value = '';
    show();
    field.focus();
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

/** In long lists of links the current one is in view. */
function showCurrentLink() {
  const links = document.getElementById('contents');
  const current = links?.querySelector('[aria-current="page"]');
  if (!current || links.scrollHeight <= links.clientHeight) return;
  links.scrollTop = current.getBoundingClientRect().top - links.getBoundingClientRect().top - links.clientHeight / 2;
}

addCopyButtons();
rememberLanguage();
showKey();
takeKey();
openSearch(document.getElementById('search'));
showCurrentLink();
addEventListener('hashchange', unfoldTarget);
unfoldTarget();
