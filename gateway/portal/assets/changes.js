// The page "Changes": shows the changes of one contract, since a day, with some words, or those that break clients. The choice is in the
// address, to be shared.

const place = (id) => document.getElementById(id);
const form = place('change-filter');
const none = place('change-none');
const items = [...document.querySelectorAll('.change-item')];
const boxes = [...document.querySelectorAll('.change, .change-of')].reverse();

/** By name in the address. */
const FIELDS = { api: place('change-api'), since: place('change-since'), about: place('change-about') };
const BOXES = { breaking: place('change-breaking'), operators: place('change-operators') };

function restore() {
  const parameters = new URLSearchParams(location.search);
  for (const [name, field] of Object.entries(FIELDS)) if (field) field.value = parameters.get(name) ?? '';
  // A name that the list lacks would leave it empty.
  if (FIELDS.api?.selectedIndex === -1) FIELDS.api.value = '';
  for (const [name, box] of Object.entries(BOXES)) if (box) box.checked = parameters.has(name);
}

function remember() {
  const parameters = new URLSearchParams();
  for (const [name, field] of Object.entries(FIELDS)) if (field?.value) parameters.set(name, field.value);
  for (const [name, box] of Object.entries(BOXES)) if (box?.checked) parameters.set(name, '1');
  const query = parameters.size === 0 ? '' : `?${parameters}`;
  history.replaceState(null, '', location.pathname + query + location.hash);
}

function isWanted(item) {
  const api = FIELDS.api?.value ?? '';
  const words = FIELDS.about.value.toLowerCase().split(/\s+/);
  const isOfOperators = item.classList.contains('of-operators') || item.closest('.of-operators') !== null;
  return (
    (api === '' || item.closest('[data-api]').dataset.api === api) &&
    item.closest('[data-day]').dataset.day >= FIELDS.since.value &&
    words.every((word) => item.textContent.toLowerCase().includes(word)) &&
    (!BOXES.breaking.checked || item.querySelector('.breaking') !== null) &&
    (BOXES.operators?.checked || !isOfOperators)
  );
}

function show() {
  let count = 0;
  for (const item of items) {
    item.hidden = !isWanted(item);
    if (!item.hidden) count += 1;
  }
  for (const box of boxes) box.hidden = box.querySelector('.change-item:not([hidden])') === null;
  const isChosen = location.search !== '';
  for (const folded of document.querySelectorAll('.change > .nested')) {
    folded.hidden = folded.querySelector('.change-item:not([hidden])') === null;
    folded.open = isChosen;
  }
  none.hidden = count > 0;
  place('change-count').textContent = `${count} ${count === 1 ? 'change' : 'changes'}`;
}

form.addEventListener('input', () => {
  remember();
  show();
});
form.addEventListener('submit', (event) => event.preventDefault());
none.querySelector('button').addEventListener('click', () => {
  form.reset();
  remember();
  show();
  form.querySelector('select, input').focus();
});
restore();
show();
