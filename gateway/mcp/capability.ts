// The capability `mcp`: error codes of the endpoint for agents, and what the log and `gateway explain` say about calls by tool.

import { type Capability, type FactsOf, rarelyNoted } from '../catalogue/capability.ts';
import { type CatalogueEntry, INVALID_REQUEST, NOT_PERMITTED } from '../catalogue/catalogue-entry.ts';

const CODES = {
  origin_not_allowed: {
    ...NOT_PERMITTED,
    needs: 'agents',
    status: 403,
    message: 'Pages of this origin may not call tools.',
    meaning:
      'A page of another origin has sent a message of the Model Context Protocol. A page must not use the address of another one, or a gateway in the network of its reader.',
    remedy: 'Call tools from a server or a desktop client, or have the origin allowed in `cors` of the gateway.',
  },
  tool_answer_too_large: {
    ...INVALID_REQUEST,
    needs: 'agents',
    status: 406,
    message: 'The operation was executed, and its response is too long for a tool. It has no list that could be cut.',
    hints: { limit: 'Ask for fewer records by the argument in limit_argument.' },
    meaning:
      'A call by tool was executed. Its response has more than `max_bytes`, and no list of records that could be cut. `upstream_status` is its status.',
    remedy: 'Ask for less, such as fewer records or fields. Send the request over HTTP if you need all of it.',
    example: { max_bytes: 32_768, upstream_status: 200 },
  },
  tool_answer_unreadable: {
    ...INVALID_REQUEST,
    needs: 'agents',
    status: 406,
    message: 'The operation was executed, and its response is no text: tools respond with JSON and text only.',
    meaning:
      'A call by tool was executed. Its response is a file, an image or a stream; `media_type` is its type. Models read JSON and text.',
    remedy: 'Send the request over HTTP, where the response arrives as it is.',
    example: { media_type: 'image/png', upstream_status: 200 },
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

const FIELDS = {
  mcp: {
    section: 'kind',
    stage: 'match',
    type: 'text',
    forClients: true,
    notes: { mcp: rarelyNoted<string>() },
    meaning: 'the method of a message of the Model Context Protocol, such as `tools/list`; `invalid`: it had none',
  },
  tool: {
    section: 'kind',
    stage: 'match',
    type: 'text',
    forClients: true,
    notes: { tool: rarelyNoted<string>() },
    meaning: 'the tool by which an agent called the operation',
  },
  within: {
    section: 'kind',
    stage: 'exchange',
    type: 'text',
    forClients: true,
    notes: { within: rarelyNoted<string>() },
    meaning: 'the request id of the message of the agent, which has a line of its own',
  },
} as const;

const FACTS: FactsOf<typeof FIELDS> = {
  mcp: { match: (method: unknown) => `a message for agents: ${method}` },
  tool: { match: (tool, { within }) => `called by the tool ${tool}, in the message ${within}` },
  within: { toldBy: 'tool' },
};

export const MCP = { codes: CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;
