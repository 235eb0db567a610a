// Pure: the command that an operator runs first about a cause, by its id. The lists of causes (console, `status`, mails) show it.

/** Ids of causes, and the commands about them. A name in the id, which a shell takes as one word, is the argument of its command. */
const COMMANDS: readonly (readonly [id: RegExp, command: string])[] = [
  [/^upstream [\w@.-]+ credential$/, 'bin/gateway doctor'],
  [/^(?:upstream|unanswered|operations of|slow operations of) (?<name>[\w@.-]+)(?: |$)/, 'bin/gateway upstreams try'],
  [/^(?:organization (?<name>[\w.-]+)|near (?<name>[\w.-]+) \S+)$/, 'bin/gateway limits show --org'],
  [/^receiver (?<name>[\w.-]+)$/, 'bin/gateway alerts test'],
  [/^(?:configuration(?: restart)?$|tier )/, 'bin/gateway check'],
  [/^certificate /, 'bin/gateway certificates list'],
  [/^(?:redis$|stores$|store writes$|issuer )/, 'bin/gateway doctor'],
  [/^(?:silent$|loop$|shedding$|worker |instance |lifecycle$|configuration differs$)/, 'bin/gateway status'],
];

/** Undefined where the details say more than a command would. */
export function nextCommandOf(id: string): string | undefined {
  const [pattern, command] = COMMANDS.find(([one]) => one.test(id)) ?? [];
  if (command === undefined) return undefined;
  const name = pattern?.exec(id)?.groups?.name;
  return name === undefined ? command : `${command} ${name}`;
}
