// The capability `mcp`: error codes of the endpoint for agents, and what the log and `gateway explain` say about calls by tool.

import { type Capability, type FactsOf, rarelyNoted } from '../capability.ts';
import { MCP_CODES } from './codes.ts';

const fields = {
  mcp: {
    part: 'kind',
    stage: 'match',
    type: 'text',
    notes: { mcp: rarelyNoted<string>() },
    meaning: 'the method of a message of the Model Context Protocol, such as `tools/list`; `invalid`: it had none',
  },
  tool: {
    part: 'kind',
    stage: 'match',
    type: 'text',
    notes: { tool: rarelyNoted<string>() },
    meaning: 'the tool by which an agent called the operation',
  },
  within: {
    part: 'kind',
    stage: 'exchange',
    type: 'text',
    notes: { within: rarelyNoted<string>() },
    meaning: 'the request id of the message of the agent, which has a line of its own',
  },
} as const;

const facts: FactsOf<typeof fields> = {
  mcp: { match: (method: unknown) => `a message for agents: ${method}` },
  tool: { match: (tool, { within }) => `called by the tool ${tool}, in the message ${within}` },
  within: 'tool',
};

export const MCP = { codes: MCP_CODES, fields, facts } as const satisfies Capability;
