// Chooses the command that an operator runs first about a cause. The lists of causes (console, `status`, mails) and `explain` show it.
// Pure.

/** `gateway status` itself does not propose it. */
export const STATUS = 'bin/gateway status';

/**
 * Ids of causes, and the commands about them. A name in the id, which a shell takes as one word, replaces its placeholder in the command.
 */
const COMMANDS: readonly (readonly [id: RegExp, command: string])[] = [
  [
    /^(?:upstream|operations of|slow operations of) (?<name>[\w@.-]+)(?: (?<mode>live|test))?(?: |$)/,
    'bin/gateway upstreams try <name> --mode <mode>',
  ],
  [/^(?:organization (?<name>[\w.-]+)|near (?<name>[\w.-]+) \S+)$/, 'bin/gateway limits show --org <name>'],
  [/^receiver (?<name>[\w.-]+)$/, 'bin/gateway alerts test <name>'],
  [/^(?:configuration(?: restart)?$|tier )/, 'bin/gateway check'],
  [/^certificate /, 'bin/gateway certificates list'],
  // docs/operations.md uses the same file name.
  [/^keys lost$/, 'bin/gateway keys import keys.jsonl'],
  [/^contract (?<name>[\w.-]+)$/, 'bin/gateway requests --upstream <name>'],
  [/^errors$/, 'bin/gateway requests --failed'],
  [/^unknown callers$/, 'bin/gateway orgs list'],
  [/^(?:redis$|stores(?: disk)?$|store writes$|issuer )/, 'bin/gateway doctor'],
  [/^instance /, 'bin/gateway status --history'],
  [/^configuration differs$/, 'bin/gateway check'],
  [/^clock /, 'timedatectl'],
  [/^(?:silent$|loop$|shedding$|worker |lifecycle$)/, STATUS],
];

/** Commands for sections of docs/operations.md, which replace the command for the id of the cause. */
const COMMANDS_OF_RUNBOOKS: Readonly<Record<string, string>> = {
  GatewayCredentialMissing: 'bin/gateway doctor',
};

interface CauseOrSubject {
  readonly id: string;
  readonly runbook?: string | null | undefined;
  readonly next?: string | undefined;
}

/** The mode in commands about an upstream in both modes. A trial of the live service only reads. */
const MODE = 'live';

/** Returns the command about an upstream; undefined for an unknown upstream, and for a name that needs quotes in a shell. */
export function upstreamCommand(upstream: string | undefined): string | undefined {
  return upstream === undefined ? undefined : nextCommandOf({ id: `upstream ${upstream}` });
}

/** Returns the command about a cause; undefined if the details say more than a command would. */
export function nextCommandOf({ id, runbook, next }: CauseOrSubject): string | undefined {
  if (next !== undefined) return next;
  const ofRunbook = COMMANDS_OF_RUNBOOKS[runbook ?? ''];
  if (ofRunbook !== undefined) return ofRunbook;
  const [pattern, command] = COMMANDS.find(([one]) => one.test(id)) ?? [];
  const { name, mode = MODE } = pattern?.exec(id)?.groups ?? {};
  return command?.replace('<name>', String(name)).replace('<mode>', mode);
}
