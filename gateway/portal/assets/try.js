// "Try it": sends an operation from its page, to the host of the page only, and shows the answer. Nothing is stored.

import { element, randomText } from './page-tools.js';
import { storedKey } from './portal.js';

const SHOWN_MAX = 200_000;

/** The text of a field as the value of a parameter, in the style of its contract (OpenAPI 3.1 section 4.8.12.3). */
function queryPartsOf(name, text, { style, explode, type }) {
  const key = encodeURIComponent(name);
  const encode = encodeURIComponent;
  const value = /^[[{]/.test(text.trim()) && style !== 'json' ? parsed(text) : text;
  if (Array.isArray(value) || (type === 'array' && style !== 'json')) {
    const items = (Array.isArray(value) ? value : text.split(',').map((item) => item.trim())).map(String);
    if (explode === 'true') return items.map((item) => `${key}=${encode(item)}`);
    const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style] ?? ',';
    return [`${key}=${items.map(encode).join(separator)}`];
  }
  if (typeof value !== 'object' || value === null) return [`${key}=${encode(text)}`];
  const members = Object.entries(value);
  if (style === 'deepObject') return members.map(([member, one]) => `${key}[${encode(member)}]=${encode(one)}`);
  if (explode === 'true') return members.map(([member, one]) => `${encode(member)}=${encode(one)}`);
  return [`${key}=${members.flat().map(encode).join(',')}`];
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What the form says, as the arguments of fetch. */
function requestOf(form) {
  let { path } = form.dataset;
  const query = [];
  const headers = new Headers();
  for (const field of form.querySelectorAll('[data-in]')) {
    const { in: place, name } = field.dataset;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(field.value));
    else if (field.value === '') continue;
    else if (place === 'query') query.push(...queryPartsOf(name, field.value, field.dataset));
    else headers.set(name, field.value);
  }
  const { unique } = form.dataset;
  if (unique !== undefined && !headers.has(unique)) headers.set(unique, randomText());
  const user = form.elements.user?.value ?? '';
  const key = storedKey();
  if (user !== '') headers.set('Authorization', `Basic ${btoa(`${user}:${form.elements.password.value}`)}`);
  else if (form.dataset.credentials !== 'none' && key !== '') headers.set('Authorization', `Bearer ${key}`);
  const body = bodyOf(form, headers);
  const address = location.origin + path + (query.length > 0 ? `?${query.join('&')}` : '');
  return [
    address,
    {
      method: form.dataset.method,
      headers,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    },
  ];
}

function bodyOf(form, headers) {
  const text = form.querySelector('#try-body');
  if (text !== null && text.value.trim() !== '') {
    headers.set('Content-Type', text.dataset.type);
    return text.value;
  }
  const file = form.querySelector('#try-file');
  if (file !== null) {
    headers.set('Content-Type', file.dataset.type);
    return file.files[0] ?? new Blob(['An example.\n']);
  }
  const parts = form.querySelector('[data-multipart]');
  return parts === null ? undefined : multipartOf(parts);
}

function multipartOf(parts) {
  const data = new FormData();
  for (const field of parts.querySelectorAll('[data-part]')) {
    const { part, required } = field.dataset;
    if (field.type !== 'file' && field.value !== '') data.append(part, field.value);
    if (field.type === 'file' && (field.files.length > 0 || required === 'true'))
      data.append(part, field.files[0] ?? new File(['An example.\n'], 'example.txt', { type: 'text/plain' }));
  }
  return data;
}

async function show(place, answer, startedAt) {
  const seconds = Math.round(performance.now() - startedAt);
  const text = await textOf(answer);
  const summary = element(
    'p',
    { class: 'try-status' },
    element('span', { class: `status s${String(answer.status)[0]}` }, String(answer.status)),
    ` ${answer.statusText} · ${seconds} ms`,
  );
  const code = element('code', {}, text.slice(0, SHOWN_MAX) || 'No body.');
  const block = element('div', { class: 'code' }, element('pre', {}, code));
  block.tabIndex = 0;
  block.setAttribute('role', 'group');
  block.setAttribute('aria-label', 'Body of the answer');
  const headers = element('code', {}, [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
  const head = element('div', { class: 'code' }, element('pre', {}, headers));
  head.tabIndex = 0;
  head.setAttribute('role', 'group');
  head.setAttribute('aria-label', 'Headers of the answer');
  const folded = element('details', { class: 'nested' }, element('summary', {}, 'Headers'), head);
  place.replaceChildren(summary, element('div', { class: 'block' }, block), folded);
}

async function textOf(answer) {
  const type = answer.headers.get('content-type') ?? '';
  if (!/json|text|xml|yaml|urlencoded/.test(type) && type !== '') {
    const { size } = await answer.blob();
    return `${size} bytes of ${type}`;
  }
  // Of a stream the beginning is shown.
  if (/event-stream|ndjson|jsonl|json-seq/.test(type)) return firstOf(answer);
  const text = await answer.text();
  if (!/json/.test(type)) return text;
  const value = parsed(text);
  return typeof value === 'string' ? text : JSON.stringify(value, null, 2);
}

const STREAM_MS = 3000;

async function firstOf(answer) {
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const timer = setTimeout(() => reader.cancel(), STREAM_MS);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || text.length > SHOWN_MAX) break;
    text += decoder.decode(value, { stream: true });
  }
  clearTimeout(timer);
  return text;
}

async function send(form, place) {
  const button = form.querySelector('[type="submit"]');
  button.disabled = true;
  place.hidden = false;
  place.replaceChildren(element('p', {}, 'Sending…'));
  try {
    const startedAt = performance.now();
    await show(place, await fetch(...requestOf(form)), startedAt);
  } catch (error) {
    place.replaceChildren(element('p', { class: 'warning' }, `No answer: ${error.message}`));
  } finally {
    button.disabled = false;
  }
}

const form = document.querySelector('.try form');
if (form !== null) {
  const place = document.querySelector('.try-answer');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const needsKey =
      form.dataset.credentials === 'key' && storedKey() === '' && (form.elements.user?.value ?? '') === '';
    if (!needsKey) return send(form, place);
    place.hidden = false;
    place.replaceChildren(element('p', { class: 'warning' }, 'Paste your test key above, then send again.'));
    document.getElementById('key')?.focus();
  });
  form.querySelector('#try-example')?.addEventListener('change', ({ target }) => {
    form.querySelector('#try-body').value = target.value;
  });
}
