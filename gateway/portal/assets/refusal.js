// Shows in one line why a request from a page was refused, and marks its wrong fields.

import { element } from './page-tools.js';

const REASON_ID = 'try-reason';

/**
 * The error in an answer; undefined if there is none, or if the answer does not come from a gateway.
 *
 * @param sent the body of the request, if it is a text
 */
export function refusalIn(text, sent) {
  try {
    const { error } = JSON.parse(text);
    if (typeof error?.message !== 'string') return undefined;
    const violations = Array.isArray(error.errors) ? error.errors : [];
    return { message: error.message, violations, fault: faultAt(error.byte_offset, sent) };
  } catch {
    return undefined;
  }
}

/** The place of a body that is not well-formed; undefined if the refusal names none. */
function faultAt(byteOffset, sent) {
  if (!Number.isInteger(byteOffset) || typeof sent !== 'string') return undefined;
  const before = new TextDecoder().decode(new TextEncoder().encode(sent).subarray(0, byteOffset));
  const lines = before.split('\n');
  return { index: before.length, line: lines.length, column: lines.at(-1).length + 1 };
}

/** `name: Must have at least 1 character. And 2 more.` */
export function reasonLine({ message, violations, fault }) {
  const [first] = violations;
  const more = violations.length > 1 ? ` And ${violations.length - 1} more, below.` : '';
  const where = fault === undefined ? '' : `Line ${fault.line}, column ${fault.column}: `;
  const reason = first === undefined ? [where + message] : [...placeOf(first), `${first.message}${more}`];
  return element('p', { class: 'try-reason', id: REASON_ID }, ...reason);
}

/** The name of a parameter, or the path of a field of the body. */
function placeOf({ param, pointer = '' }) {
  const name = param ?? pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  return name === '' ? [] : [element('code', {}, name), ': '];
}

/** Marks the fields that hold what was refused, until they are changed. A body that is not well-formed has its caret at the fault. */
export function markFields(form, { violations, fault }) {
  const body = fault === undefined ? null : form.querySelector('#try-body');
  body?.setSelectionRange(fault.index, fault.index);
  const fields = [body, ...violations.map((violation) => fieldOf(form, violation))];
  fields.find(Boolean)?.scrollIntoView({ block: 'nearest' });
  for (const field of fields) {
    field?.setAttribute('aria-invalid', 'true');
    field?.setAttribute('aria-describedby', REASON_ID);
    field?.addEventListener('input', () => clearMark(field), { once: true });
  }
}

export function clearMarks(form) {
  for (const field of form.querySelectorAll('[aria-invalid]')) clearMark(field);
}

function clearMark(field) {
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
}

function fieldOf(form, { in: where, param, pointer = '' }) {
  if (where !== 'body')
    return [...form.querySelectorAll('[data-in]')].find(
      ({ dataset }) => dataset.in === where && dataset.name === param,
    );
  const parts = [...form.querySelectorAll('[data-part]')];
  return (
    parts.find(({ dataset }) => dataset.part === pointer.split('/')[1]) ?? form.querySelector('#try-body, #try-file')
  );
}
