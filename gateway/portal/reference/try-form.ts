// Makes the form below a sample. The form begins with the values of the sample, and the sample shows typed values at once. A script reads
// the names and places of values from attributes.

import { escapeHtml } from '../html.ts';
import { fieldText, type SampleForm, sampleContentOf, sentTypeOf } from '../samples/sample-request.ts';
import type { BodyView } from './body-view.ts';
import { exampleText } from './body-view.ts';
import type { OperationView, ParameterView } from './operation-view.ts';
import type { ReferredOperation } from './reference.ts';
import { isFileMember } from './sample-form.ts';

/** Returns, as HTML, why an operation cannot be sent from its page; undefined if it can. */
export function reasonNotToSend(
  operation: ReferredOperation,
  { credentials }: SampleForm,
  { isOwnOrigin, isLocal }: { readonly isOwnOrigin: boolean; readonly isLocal: boolean },
): string | undefined {
  if (operation.webSocket) return 'A page cannot open a WebSocket with a key in its header: use a client of your own.';
  if (!isOwnOrigin) return 'This operation is on another host, which a page may not send to: use the sample.';
  if (credentials !== 'key' || operation.hasTestMode) return undefined;
  if (operation.path.startsWith('/gateway/v1/'))
    return 'This operation acts on real records, for live keys alone: use the sample.';
  const remedy = isLocal
    ? ` To try it here, add <code>test: "examples:"</code> to the entry <code>${escapeHtml(operation.upstream)}</code> of <code>upstreams.yaml</code>: test keys then get responses from the contract.`
    : '';
  return `This operation has no test data, so it cannot be tried here: use the sample with a live key.${remedy}`;
}

export function tryForm(operation: ReferredOperation, view: OperationView, form: SampleForm): string {
  const fields = view.parameters
    .filter(({ place, name }) => place !== 'cookie' && !(place === 'header' && /^(authorization|accept)$/i.test(name)))
    .map(parameterField);
  const basic = operation.security.some(({ scheme }) => scheme === 'basic');
  const { method, server, path, uniqueHeader, credentials, response } = form;
  const facts = JSON.stringify({ method, server, path, uniqueHeader, credentials, response });
  const inputs = [basic ? basicFields(credentials === 'basic') : '', ...fields, view.body ? bodyField(view.body) : ''];
  const isEmpty = inputs.every((input) => input === '');
  const count = fields.length + (view.body ? 1 : 0);
  // A request with a file as its body is empty until the reader chooses a file.
  const isOpen = inputs.some((input) => input.includes('type="file"')) ? ' open' : '';
  const values = `<details class="values"${isOpen}><summary>Change the request <span class="count">${count}</span></summary>
<div class="fields">${inputs.join('\n')}</div></details>`;
  const examples = operation.hasExamplesForTests ? ' data-test-keys-get="examples"' : '';
  return `<form class="try needs-script" data-form="${escapeHtml(facts)}"${examples} autocomplete="off">
${isEmpty ? '' : values}
<p class="try-actions"><button type="submit" class="primary">Send</button> <span>${noteOf(operation)}</span></p>
</form>
<div class="try-answer" role="status" hidden></div>`;
}

function noteOf({ hasTestMode, hasExamplesForTests, method, security }: ReferredOperation): string {
  if (security.length === 0) return '';
  if (hasExamplesForTests)
    return 'With your test key: the answer is an example of the contract, not data of the service.';
  if (hasTestMode) return 'With your test key: only test data is read and changed.';
  return /^(GET|HEAD|OPTIONS)$/.test(method) ? '' : 'There is no test data here: what you send is executed.';
}

function basicFields(isOnly: boolean): string {
  const hint = isOnly ? '' : ' <small>instead of a key</small>';
  return `<div class="field"><label for="try-user">User name${hint}</label><input id="try-user" name="user"></div>
<div class="field"><label for="try-password">Password</label><input id="try-password" name="password" type="password"></div>`;
}

const REQUIRED = ' <span class="required">required</span>';

function parameterField(parameter: ParameterView, index: number): string {
  const { place, name, isRequired, example, style, explode, schema } = parameter;
  const id = `try-${index}`;
  const text = textOf(example);
  // Optional values are proposed and not filled in, because an invented cursor or filter would make the request fail.
  const value = isRequired ? ` value="${escapeHtml(text)}"` : ` placeholder="${escapeHtml(text)}"`;
  const attributes = `id="${id}" data-in="${place}" data-name="${escapeHtml(name)}" data-style="${escapeHtml(style)}" data-explode="${explode}" data-type="${escapeHtml(schema.type.split(/[ (]/)[0] ?? '')}"`;
  const label = `<label for="${id}"><code>${escapeHtml(name)}</code> <small>${place}</small>${isRequired ? REQUIRED : ''}</label>`;
  if (schema.values.length > 1 && !schema.type.startsWith('array')) {
    const options = schema.values.map(
      (one) => `<option${isRequired && one === text ? ' selected' : ''}>${escapeHtml(one)}</option>`,
    );
    const none = isRequired ? '' : '<option value="">not sent</option>';
    return `<div class="field">${label}<select ${attributes}>${none}${options.join('')}</select></div>`;
  }
  return `<div class="field">${label}<input ${attributes}${value}${isRequired ? ' required' : ''}></div>`;
}

function textOf(example: unknown): string {
  if (Array.isArray(example) && example.every((item) => typeof item !== 'object'))
    return example.map(fieldText).join(',');
  return fieldText(example);
}

function bodyField({ media }: BodyView): string {
  const [first] = media;
  if (first === undefined) return '';
  const value = first.examples[0]?.value;
  const type = sentTypeOf(first.type, value);
  // The form takes a file where the sample sends one.
  if (/^(file|multipart)$/.test(sampleContentOf(type, value).kind)) return fileFields(type, first);
  const texts = first.examples.map(({ label, value }) => ({ label, text: bodyText(type, value) }));
  const options = texts.map(({ label, text }) => `<option value="${escapeHtml(text)}">${escapeHtml(label)}</option>`);
  const choice =
    texts.length > 1
      ? `<div class="field"><label for="try-example">Example</label><select id="try-example">${options.join('')}</select></div>`
      : '';
  const text = texts[0]?.text ?? '';
  const rows = Math.min(16, Math.max(3, text.split('\n').length));
  return `${choice}<div class="field"><label for="try-body">Body <small>${escapeHtml(type)}</small></label>
<textarea id="try-body" data-type="${escapeHtml(type)}" rows="${rows}" spellcheck="false">${escapeHtml(`\n${text}`)}</textarea></div>`;
}

function bodyText(type: string, value: unknown): string {
  if (type.startsWith('application/x-www-form-urlencoded') && typeof value === 'object' && value !== null)
    return new URLSearchParams(
      Object.entries(value).map(([name, member]): [string, string] => [name, fieldText(member)]),
    ).toString();
  return exampleText(value, type);
}

/** Returns the fields for a file of the reader. Without a file, a short text is sent. */
function fileFields(type: string, { examples, schema }: BodyView['media'][number]): string {
  if (!type.startsWith('multipart/')) {
    return `<div class="field"><label for="try-file">Body <small>${escapeHtml(type)}</small></label><input id="try-file" type="file" data-type="${escapeHtml(type)}">
<small>Without a file a short text is sent.</small></div>`;
  }
  const value = examples[0]?.value;
  const known = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const fields = schema.members.map(({ name, isRequired, schema: member }, index) => {
    const isFile = isFileMember(member) || member.type.startsWith('any value');
    const text = fieldText(known.find(([one]) => one === name)?.[1]);
    const kind = isFile ? 'type="file"' : `value="${isRequired ? escapeHtml(text) : ''}"`;
    return `<div class="field"><label for="try-part-${index}"><code>${escapeHtml(name)}</code> <small>form</small>${isRequired ? REQUIRED : ''}</label><input id="try-part-${index}" data-part="${escapeHtml(name)}" data-required="${isRequired}" ${kind}></div>`;
  });
  return `<div data-multipart data-type="${escapeHtml(type)}">${fields.join('\n')}</div>`;
}
