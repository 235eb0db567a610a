// Makes the page "For agents". It says how programs read the documentation, and shows the address of the tools, how to add it to common
// clients, and the tools for a pasted key. A script reads these tools; the served page contains no data of an organization.

import { KEY_MARK, KEY_PLACEHOLDER } from './highlight.ts';
import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';
import { renderMarkdown } from './markdown.ts';
import type { AddressedContract } from './reference/addresses.ts';

interface AgentsPageOptions {
  /** The path of the endpoint for agents, on the host of this page; undefined if there is no endpoint. */
  readonly path: string | undefined;
  readonly publicUrl: string;
  readonly title: string;
  readonly references: readonly AddressedContract[];
  /** The names of the guides that there are. */
  readonly guides: ReadonlySet<string>;
}

/** The first line of the sample, of a package that the gateway does not use. */
const IMPORT = "import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';";

const FORM = `<h2 id="tools">Your tools</h2>
<p class="agents-unscripted">A client shows them as soon as it is connected. With JavaScript, this page lists those of a key.</p>
<form id="agents-form" class="key-box needs-script" autocomplete="off">
<label for="agents-key">Your key</label>
<div class="key-row"><input id="agents-key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="sk_…" aria-describedby="agents-note">
<button type="submit" class="primary">Show tools</button></div>
<p id="agents-note">It stays in the memory of this page until you leave it, and is sent to this API only.</p>
</form>
<p id="agents-status" class="quiet" role="status"></p>`;

export function agentsPage(options: AgentsPageOptions): Page {
  const { path, publicUrl, title } = options;
  const tools = path === undefined ? '' : toolsText(`${publicUrl}${path}`, nameOf(title));
  const markdown = `${readingText(options)}${tools}`;
  const rendered = renderMarkdown(markdown);
  const form =
    path === undefined ? '' : `${FORM}\n<div id="agents-tools" data-path="${escapeHtml(path)}" hidden></div>`;
  return {
    path: '/docs/agents',
    title: 'For agents',
    description: leadOf(path),
    section: '/docs/agents',
    main: `<article class="guide">${rendered.html}</article>\n${form}`,
    markdown: markdown.replaceAll(KEY_MARK, KEY_PLACEHOLDER),
    ...(path === undefined ? {} : { scripts: ['agents.js'] }),
  };
}

/** Returns the name of the server for the lists of clients. */
function nameOf(title: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return name || 'api';
}

function leadOf(path: string | undefined): string {
  return `The documentation as Markdown${path === undefined ? '' : ', and the API as tools'}, for agents and other programs that read.`;
}

function readingText({ path, publicUrl, title, references, guides }: AgentsPageOptions): string {
  const contracts = references
    .filter(({ clientOperations }) => clientOperations > 0)
    .map(
      ({ reference: { name, title } }) => `| ${title} | [JSON](/openapi/${name}.json), [YAML](/openapi/${name}.yaml) |`,
    );
  return `# For agents

${leadOf(path)}

## Read the documentation

[\`/llms.txt\`](/llms.txt) lists every page. Each page is there as Markdown: put \`.md\` behind its address, or ask for it.

\`\`\`sh
curl ${publicUrl}/docs/errors -H 'Accept: text/markdown'
\`\`\`

Every error of the API has a \`doc_url\`, whose page says what to do: an agent can read it in the same way.

## A prompt to begin with

\`\`\`text
${promptText({ publicUrl, title, guides })}
\`\`\`

## Contracts

| API | OpenAPI 3.1 |
| --- | --- |
${contracts.join('\n')}

An operation is described in full on its own page: an agent that needs one of them reads one page, not the whole contract.${exampleOf(references, publicUrl)}
${path === undefined ? WITHOUT_TOOLS : ''}`;
}

/** Returns the text that tells an agent what it must know before its first request, worded as the task of a person. */
function promptText({ publicUrl, title, guides }: Pick<AgentsPageOptions, 'publicUrl' | 'title' | 'guides'>): string {
  const repeat = guides.has('idempotency')
    ? ['Send each write with an Idempotency-Key, and the same key if you repeat it.']
    : [];
  return [
    `You work with ${title}, an HTTP API at ${publicUrl}.`,
    `Read ${publicUrl}/llms.txt first. It lists the documentation as Markdown:`,
    'read the page of an operation before you call it.',
    'Send the header "Authorization: Bearer $API_KEY". The key is in the environment: do not print or store it.',
    ...repeat,
    'If a request fails, decide by error.code, read error.doc_url, and repeat the request only if error.retryable is true,',
    'after error.retry_after seconds. Report error.request_id if you cannot go on.',
  ].join('\n');
}

/** Returns how an agent reads the page of an operation. The example is the first operation. */
function exampleOf(references: readonly AddressedContract[], publicUrl: string): string {
  const [first] = references.flatMap(({ operations }) => operations.filter(({ isForOperators }) => !isForOperators));
  return first === undefined ? '' : `\n\n\`\`\`sh\ncurl ${publicUrl}${first.path}.md\n\`\`\``;
}

const WITHOUT_TOOLS = `
## Tools

This API has no endpoint for tools (MCP). An agent that can send HTTP requests needs none: give it the prompt, and a key in its environment. One
that takes tools by an OpenAPI document, as those of custom actions do, reads the contract by its address above, with the key as a bearer token.
Give it a key of its own, with the fewest scopes.
`;

function toolsText(url: string, name: string): string {
  const json = (value: object) => JSON.stringify(value, null, 2);
  const headers = { Authorization: `Bearer ${KEY_MARK}` };
  return `
## Tools

The endpoint has operations of this API as tools, by the Model Context Protocol (MCP). A call by tool is a request with your key: its scopes, limits and errors are the same. Give an agent a key of its own,
with the fewest scopes; it sees the tools of these scopes only.

- Address: \`${url}\` (Streamable HTTP)
- Credential: the header \`Authorization: Bearer <key>\`
- Revisions: 2026-07-28, 2025-11-25 and before

### Claude Code

\`\`\`sh
claude mcp add --transport http ${name} ${url} \\
  --header "Authorization: Bearer ${KEY_MARK}"
\`\`\`

### Visual Studio Code

In \`.vscode/mcp.json\`:

\`\`\`json
${json({ servers: { [name]: { type: 'http', url, headers } } })}
\`\`\`

### Cursor, and others that read mcpServers

\`\`\`json
${json({ mcpServers: { [name]: { type: 'http', url, headers } } })}
\`\`\`

### TypeScript

\`\`\`js
${IMPORT}

const client = new Client({ name: 'my-agent', version: '1.0.0' });
const requestInit = { headers: { Authorization: 'Bearer ${KEY_MARK}' } };
await client.connect(new StreamableHTTPClientTransport(new URL('${url}'), { requestInit }));
console.log((await client.listTools()).tools);
\`\`\`

### Python

\`\`\`python
import asyncio
from fastmcp import Client

async def main():
    async with Client('${url}', auth='${KEY_MARK}') as client:
        print(await client.list_tools())

asyncio.run(main())
\`\`\`

### By hand

\`\`\`sh
curl ${url} -H "Authorization: Bearer ${KEY_MARK}" -H 'Content-Type: application/json' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
\`\`\`

### If a call is repeated

A write runs once for each value of its argument \`idempotency_key\`, however often it is called. An error is the error object of the API,
with its code and remedy.
`;
}
