// A form that tries a request out, as `bin/gateway explain --request` does. Nothing is sent to a service, spent or written.

import { addressOf, routeIn } from './addresses.js';
import { ask } from './api.js';
import { commandLine, element, emptyCard, place, signed } from './elements.js';
import { stagesOf } from './story.js';

const FIELDS = ['method', 'target', 'caller', 'mode', 'scopes', 'client', 'headers', 'body'];
/** The fields that the address may contain. Headers and the body of a client stay out of it. */
const IN_ADDRESS = ['method', 'target', 'caller', 'mode', 'scopes', 'client'];

const form = place('explain-form');
const outcome = place('explain-outcome');

export function openExplain() {
  const { params } = routeIn(location.hash);
  for (const name of IN_ADDRESS) if (params.has(name)) form.elements[name].value = params.get(name);
  outcome.replaceChildren();
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const request = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value.trim()]));
  history.replaceState(
    null,
    '',
    addressOf('explain', Object.fromEntries(IN_ADDRESS.map((name) => [name, request[name]]))),
  );
  outcome.replaceChildren(emptyCard('Trying …'));
  try {
    const told = outcomeOf(await ask('explain', request));
    outcome.replaceChildren(...told, element('h3', {}, 'On the command line'), commandLine(commandOf(request)));
  } catch {
    outcome.replaceChildren(element('p', { class: 'bad', role: 'alert' }, 'The gateway does not respond.'));
  }
});

function outcomeOf({ body: { error, problem = error, report, refusal } }) {
  if (problem !== undefined) return [element('p', { class: 'bad', role: 'alert' }, problem)];
  const kind = refusal === null ? 'good' : 'warn';
  return [
    element('p', { class: `verdict ${kind}` }, signed(kind, report.verdict)),
    stagesOf(report.stages, { ...report.record, refused: report.refused }),
    ...(refusal === null
      ? []
      : [element('h3', {}, 'The response'), element('pre', { tabindex: '0' }, JSON.stringify(refusal, null, 2))]),
  ];
}

/** Returns the command that explains the same request in a shell. The body is then a file. */
function commandOf({ method, target, caller, mode, scopes, client, headers, body }) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const lines = headers.split('\n').filter((line) => line.trim() !== '');
  return [
    `bin/gateway explain --request ${quote(`${method} ${target}`)}`,
    ...(caller === '' ? [] : [`${caller.startsWith('key_') ? '--key' : '--org'} ${quote(caller)}`]),
    ...(mode === '' ? [] : [`--mode ${mode}`]),
    ...(scopes === '' ? [] : ['--scopes', ...scopes.split(/[\s,]+/).map(quote)]),
    ...(client === '' ? [] : [`--client ${quote(client)}`]),
    ...lines.map((line) => `--header ${quote(line.trim())}`),
    ...(body === '' ? [] : ['--body body.json']),
  ].join(' ');
}
