// Pure: to which part of a request's life the work of a source file belongs. A test compares it with the list of the stages.

/** First match wins. Paths are relative to the repository. */
const STAGES: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/^gateway\/edge\/refusal\//, 'refuse'],
  [/^gateway\/edge\//, 'admit and shell'],
  [/^gateway\/limits\/addresses/, 'throttle'],
  [/^gateway\/limits\/|^gateway\/redis/, 'limit'],
  [/^gateway\/contract\/(match|operations\/routes)/, 'match'],
  [/^gateway\/contract\/answer/, 'answer'],
  [/^gateway\/contract\//, 'validate'],
  [/^gateway\/auth\/authorize/, 'authorize'],
  [/^gateway\/auth\/assertions\//, 'forward'],
  [/^gateway\/(auth|sessions)\//, 'authenticate'],
  [/^gateway\/replay\//, 'replay'],
  [/^gateway\/upstream\/relay/, 'answer'],
  [/^gateway\/upstream\//, 'forward'],
  [/^gateway\/(observe|usage)\//, 'log and metrics'],
  [/^gateway\//, 'pipeline and wiring'],
];

/** Work of a file that no stage started is the library's own: reading sockets, parsing. */
export function stageOf(file: string): string {
  const [, stage] = STAGES.find(([pattern]) => pattern.test(file)) ?? [];
  if (stage !== undefined) return stage;
  const [, library] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  if (library !== undefined) return `${library}, by itself`;
  return file.startsWith('node:') ? 'Node: HTTP and sockets' : file;
}
