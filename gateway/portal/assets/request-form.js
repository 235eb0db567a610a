// The form of a request. The samples show the typed values at once. The page sends the request, only to the host of the page.
// Nothing is stored.

import { showAnswer } from './answer.js';
import { highlight } from './code/highlight.ts';
import { sampleContentOf, toSampleRequest } from './code/samples/sample-request.ts';
import { LANGUAGES } from './code/samples/samples.ts';
import { askForKey, isTestKey, rememberLimit, showKey, storedKey } from './key.js';
import { element, randomText } from './page-tools.js';
import { clearMarks, markFields } from './refusal.js';
import { stopStream } from './stream.js';

/** The request in the form, without the key. */
function sampleOf(form) {
  const facts = JSON.parse(form.dataset.form);
  const parameters = [...form.querySelectorAll('[data-in]')]
    .filter(({ value, dataset }) => value !== '' || dataset.in === 'path')
    .map(({ value, dataset }) => ({
      place: dataset.in,
      name: dataset.name,
      style: dataset.style,
      explode: dataset.explode === 'true',
      value: parameterValue(value, dataset),
    }));
  const isBasic = (form.elements.user?.value ?? '') !== '';
  return toSampleRequest({ ...facts, ...(isBasic && { credentials: 'basic' }), parameters, ...bodyOf(form) });
}

/** The text of a field as the value of a parameter: lists with commas, and JSON. */
function parameterValue(text, { style, type }) {
  if (style === 'json') return text;
  const value = /^[[{]/.test(text.trim()) ? parseJson(text) : text;
  return type === 'array' && typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value;
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function bodyOf(form) {
  const text = form.querySelector('#try-body');
  if (text !== null) return text.value.trim() === '' ? {} : textBody(text.value, text.dataset.type);
  const file = form.querySelector('#try-file');
  if (file !== null) return { body: { kind: 'file', type: file.dataset.type }, bodyType: file.dataset.type };
  const parts = form.querySelector('[data-multipart]');
  if (parts === null) return {};
  const fields = [...parts.querySelectorAll('[data-part]')]
    .filter((field) => field.type === 'file' || field.value !== '')
    .map(({ dataset, type, value }) => [
      dataset.part,
      type === 'file' ? '' : value,
      type === 'file' ? 'file' : undefined,
    ]);
  return { body: { kind: 'multipart', fields }, bodyType: parts.dataset.type };
}

function textBody(text, bodyType) {
  if (/urlencoded/.test(bodyType)) return { body: { kind: 'form', fields: [...new URLSearchParams(text)] }, bodyType };
  const value = parseJson(text);
  // A text that is not JSON is shown and sent as typed, because the gateway names its mistake.
  if (typeof value === 'string') return { body: { kind: 'text', text }, bodyType };
  return { body: sampleContentOf(bodyType, value), bodyType };
}

/** The body to send: as typed, byte for byte. */
function sentBody(form) {
  const text = form.querySelector('#try-body');
  if (text !== null) return text.value.trim() === '' ? undefined : text.value;
  const file = form.querySelector('#try-file');
  if (file !== null) return file.files[0] ?? new Blob(['An example.\n']);
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

function headersOf({ headers: named, uniqueHeader, credentials }, form) {
  const headers = new Headers(named);
  if (uniqueHeader !== undefined) headers.set(uniqueHeader, randomText());
  const user = form.elements.user?.value ?? '';
  if (user !== '') headers.set('Authorization', `Basic ${btoa(`${user}:${form.elements.password.value}`)}`);
  else if (credentials === 'key' && storedKey() !== '') headers.set('Authorization', `Bearer ${storedKey()}`);
  return headers;
}

export function showSamples(form) {
  const request = sampleOf(form);
  for (const { id, code, write } of LANGUAGES) {
    const place = document.querySelector(`[data-sample="${id}"] code`);
    if (place !== null) place.innerHTML = highlight(write(request), code);
  }
  showKey();
}

/** A view that shows the beginning of a response does not move. */
function showBeginning(place) {
  if (place.getBoundingClientRect().top > innerHeight / 2) place.scrollIntoView({ block: 'nearest' });
}

export async function send(form, place) {
  const button = form.querySelector('[type="submit"]');
  // A button that is disabled loses the focus.
  if (button.ariaDisabled === 'true') return;
  stopStream();
  const request = sampleOf(form);
  const { server } = JSON.parse(form.dataset.form);
  place.hidden = false;
  if (request.credentials === 'key' && storedKey() === '') {
    place.replaceChildren(element('p', { class: 'warning' }, 'Paste your test key at the top of the page, then send.'));
    return askForKey();
  }
  button.ariaDisabled = 'true';
  clearMarks(form);
  place.replaceChildren(element('p', { class: 'try-status' }, 'Sending…'));
  try {
    const startedAt = performance.now();
    const body = sentBody(form);
    const answer = await fetch(location.origin + request.url.slice(server.length), {
      method: request.method,
      headers: headersOf(request, form),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    rememberLimit(answer.headers);
    const refusal = await showAnswer(place, answer, {
      sent: body,
      durationMs: performance.now() - startedAt,
      isExample: form.dataset.testKeysGet === 'examples' && isTestKey(storedKey()),
    });
    showBeginning(place);
    if (refusal !== undefined) markFields(form, refusal);
  } catch (error) {
    place.replaceChildren(element('p', { class: 'warning' }, `No response: ${error.message}`));
  } finally {
    button.ariaDisabled = null;
  }
}
