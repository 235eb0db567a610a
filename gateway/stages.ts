// The list of the stages, with what is true of each by its name. exchange.ts has the types of their functions.

interface StageKind {
  /** How `explain` simulates it: by the configuration alone, or by a stand-in of its own. */
  readonly trial?: 'configuration' | 'stand-in';
  /** Why `explain` leaves it out. */
  readonly untried?: string;
  /** It can wait before the request is forwarded: the name of its end in a trace. */
  readonly ended?: string;
}

/** The one list of the stages, in order. */
const STAGE_LIST = {
  admit: { trial: 'configuration' },
  throttle: { untried: 'only a running gateway knows which addresses are blocked' },
  match: { trial: 'configuration' },
  authenticate: { trial: 'stand-in', ended: 'identified' },
  authorize: { trial: 'configuration' },
  limit: { trial: 'stand-in', ended: 'counted' },
  validate: { trial: 'configuration', ended: 'checked' },
  replay: { untried: 'looking up an Idempotency-Key reserves it' },
  forward: { trial: 'stand-in' },
} as const satisfies Readonly<Record<string, StageKind>>;

export type StageName = keyof typeof STAGE_LIST;
type StagesWith<Kind> = {
  [Name in StageName]: (typeof STAGE_LIST)[Name] extends Kind ? Name : never;
}[StageName];

/** The names of the stages, in order: in the code, log lines, metrics, traces, `explain` and recorded decisions. */
export const STAGES = Object.keys(STAGE_LIST) as readonly StageName[];

export type StatelessStage = StagesWith<{ trial: 'configuration' }>;
export type UntriedStage = StagesWith<{ untried: string }>;

/** Stages that need a running gateway, with the reason. */
export const UNTRIED_STAGES = valuesOf('untried') as { readonly [Name in UntriedStage]: string };

export type TimedStage = StagesWith<{ ended: string }>;

/** Stages that can wait before the request is forwarded: the trail has the time of their end. With the name of that event in a trace. */
export const TIMED_STAGES = valuesOf('ended') as {
  readonly [Name in TimedStage]: (typeof STAGE_LIST)[Name]['ended'];
};

function valuesOf(member: keyof StageKind): Partial<Record<StageName, string>> {
  const kinds = Object.entries<StageKind>(STAGE_LIST);
  return Object.fromEntries(
    kinds.flatMap(([name, { [member]: value }]) => (value === undefined ? [] : [[name, value]])),
  );
}
