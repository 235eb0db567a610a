// What a mutation is: a small defect of the gateway as a change of its source.

export interface Mutation {
  readonly protocol:
    | 'limits'
    | 'keys'
    | 'bound'
    | 'idempotency'
    | 'replicas'
    | 'certificates'
    | 'reload'
    | 'sessions'
    | 'usage';
  /** What is wrong then. */
  readonly defect: string;
  readonly file: string;
  /** A text that is there once, and what takes its place. */
  readonly before: string;
  readonly after: string;
}

type Row = readonly [defect: string, file: string, before: string, after: string];

/** @param rows with files below `gateway/` */
export const of = (protocol: Mutation['protocol'], rows: readonly Row[]): readonly Mutation[] =>
  rows.map(([defect, file, before, after]) => ({ protocol, defect, file: `gateway/${file}`, before, after }));
