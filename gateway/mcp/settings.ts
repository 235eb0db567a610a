// The settings of the endpoint for agents: the block `mcp` of config/gateway.yaml.

import { z } from 'zod';
import { name, whole } from '../config/parts.ts';

const names = (what: string) => z.array(z.string().min(1)).default([]).meta({ values: what });

export const mcpSettings = z
  .strictObject({
    path: z
      .string()
      .regex(/^(?:\/[A-Za-z0-9_-][A-Za-z0-9._~-]*)+$/, 'must begin with a slash and not end with one')
      .refine((path) => !/^\/(?:docs|openapi|llms\.txt)(?:\/|$)/.test(path), 'must not be a path of the documentation')
      .default('/mcp')
      .meta({ description: 'The path of the endpoint, on the host name of the API.', values: '`/mcp`, `/agents/mcp`' }),
    entries: z.array(name).default([]).meta({
      description: 'Entries of `upstreams.yaml` whose operations are tools.',
      values: 'names of entries',
    }),
    tags: names('tags').describe('Tags: operations with one of these tags are also tools.'),
    operations: names('operation ids').describe('Further operations that are tools.'),
    except: names('operation ids').describe(
      'These operations are not tools, even if one of the three lists above names them.',
    ),
    thirdParties: z.array(name).default([]).meta({
      description:
        'Entries whose contracts others have written. Their texts are marked, because a model could take them for instructions ([agents](mcp.md#texts-of-third-parties)).',
      values: 'names of entries',
    }),
    title: z.string().min(1).max(80, 'must have at most 80 characters').optional().meta({
      description: 'The name that clients show. Default: the title of the documentation.',
      values: '1–80 characters',
    }),
    instructions: z.string().max(4000, 'must have at most 4000 characters').optional().meta({
      description: 'What a model should know before it uses the tools.',
      values: 'at most 4000 characters',
    }),
    mode: z
      .enum(['auto', 'list', 'search'])
      .default('auto')
      .describe(
        '`list`: a client gets all its tools. `search`: it gets three tools that find, describe and call operations. `auto`: `search` above `toolsMax` or `listBytesMax`.',
      ),
    toolsMax: whole('tools', 1, 10_000).default(64).describe('More tools than this are not listed in mode `auto`.'),
    listBytesMax: whole('bytes', 1024, 10_485_760)
      .default(65_536)
      .describe('A longer list is not sent in mode `auto`. Four bytes are about one token of a model.'),
    answerBytesMax: whole('bytes', 1024, 4_194_304)
      .default(32_768)
      .describe('The longest answer of a tool. A longer list is cut at whole records ([agents](mcp.md#answers)).'),
    listTtlSeconds: whole('seconds', 0, 86_400)
      .default(300)
      .describe('The time for which clients may keep their list of tools.'),
  })
  .superRefine(({ entries, tags, operations }, context) => {
    if (entries.length + tags.length + operations.length === 0)
      context.addIssue({ code: 'custom', message: 'must open operations by entries, tags or operations' });
  });

export type McpSettings = z.output<typeof mcpSettings>;
