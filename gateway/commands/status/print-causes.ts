// Prints what needs attention, in the words of the console. Each cause is printed with its consequence, its runbook and its link.

import type { AlertNote } from '../../alerts/message.ts';
import { STATUS } from '../../shared/next-command.ts';
import type { CommandContext } from '../context.ts';
import { printLine } from '../print.ts';

const WIDTH = 'RECOVERED '.length;

/** Prints the causes. @param suspects upstreams whose last request failed, without being a cause yet */
export function printCauses(
  context: Pick<CommandContext, 'write'>,
  causes: readonly AlertNote[],
  suspects: readonly string[] = [],
): void {
  if (causes.length === 0) {
    const names = suspects.join(', ');
    const all = 'Nothing needs attention';
    printLine(
      context,
      suspects.length === 0 ? `${all}.` : `${all} yet. Suspect, because its last request failed: ${names}.`,
    );
  }
  for (const cause of causes) for (const line of linesOf(cause)) printLine(context, line);
}

function linesOf(note: AlertNote): string[] {
  const { id, state, severity, cause, consequence, since, until, instances, runbook, next, link } = note;
  const label = state === 'recovering' ? 'recovered' : severity;
  const when = until === null ? `Since ${since}` : `From ${since} to ${until}`;
  const where = instances.length === 0 ? '' : ` On ${instances.join(', ')}.`;
  const more = [
    `${consequence} ${when}.${where}`.trimStart(),
    `cause    ${id}`,
    ...(runbook === null ? [] : [`runbook  ${runbook} in docs/operations.md, and ${pageOf(link, runbook)}`]),
    `details  ${link}`,
    ...(next == null || next === STATUS ? [] : [`next     ${next}`]),
  ];
  return [`${label.toUpperCase().padEnd(WIDTH)}${cause}`, ...more.map((line) => `${' '.repeat(WIDTH)}${line}`)];
}

/** Returns the address of the console page that shows the runbook. */
function pageOf(link: string, runbook: string): string {
  return `${link.slice(0, link.indexOf('#'))}#/runbook/${encodeURIComponent(runbook)}`;
}
