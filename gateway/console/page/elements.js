// Creates elements. Text is always inserted as text, never as markup.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A word with a sign before it, so that its meaning does not depend on colour. */
export function state(kind, text) {
  const signs = { good: '●', warn: '▲', bad: '✕', off: '○' };
  return element(
    'span',
    { class: `state ${kind}` },
    element('span', { 'aria-hidden': 'true' }, `${signs[kind]} `),
    text,
  );
}
