// The page "For agents": lists the tools that a pasted key sees. The key is in a variable of this module only, and leaving the page forgets it.

import { element } from './page-tools.js';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
};
/** A long list shows at most this number of operations. */
const SHOWN_MAX = 200;
const SEARCH_PAGE = 25;

const place = (id) => document.getElementById(id);
const form = place('agents-form');
const field = place('agents-key');
const status = place('agents-status');
const root = place('agents-tools');
place('agents-form').previousElementSibling.hidden = true;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  show(field.value.trim());
});
addEventListener('pagehide', () => {
  field.value = '';
  root.replaceChildren();
  root.hidden = true;
  status.textContent = '';
});

async function show(key) {
  root.hidden = true;
  status.textContent = 'Asking for the tools…';
  try {
    const { tools, total } = await toolsOf(key);
    root.replaceChildren(tableOf(tools));
    root.hidden = false;
    status.textContent = total > tools.length ? `The first ${tools.length} of ${total} tools.` : `${total} tools.`;
  } catch (problem) {
    status.textContent = problem.message;
  }
}

/** All tools of a key. If there is the tool `search_operations`, the page shows the operations that it finds, instead. */
async function toolsOf(key) {
  const tools = [];
  let cursor;
  do {
    const page = await send(key, 'tools/list', cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined && tools.length < SHOWN_MAX);
  if (!tools.some(({ name }) => name === 'search_operations')) return { tools, total: tools.length };
  const found = [];
  let total = 0;
  for (let offset = 0; offset !== undefined && found.length < SHOWN_MAX; ) {
    const given = { query: '', limit: SEARCH_PAGE, offset };
    const { structuredContent } = await send(key, 'tools/call', { name: 'search_operations', arguments: given });
    found.push(...structuredContent.operations);
    ({ total, next_offset: offset } = structuredContent);
  }
  return { tools: found, total };
}

async function send(key, method, params) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } });
  const answer = await fetch(root.dataset.path, { method: 'POST', headers, body, credentials: 'omit' });
  const message = await answer.json();
  if (message.error !== undefined) throw new Error(message.error.message);
  return message.result;
}

function tableOf(tools) {
  const rows = tools.map((tool) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, tool.name)),
      element('td', {}, tool.title ?? ''),
      element('td', {}, (tool.read_only ?? tool.annotations?.readOnlyHint) ? 'reads' : 'changes'),
    ),
  );
  const head = element(
    'tr',
    {},
    ...['Tool', 'Operation', 'Effect'].map((text) => element('th', { scope: 'col' }, text)),
  );
  return element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
}
