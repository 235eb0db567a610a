// A guide of the documentation, before it is rendered. The configuration contains guides, and some are part of the gateway.

export interface GuideSource {
  /** The name of its file and of its page. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** Guides are shown in this order, then by title. */
  readonly order: number;
  readonly markdown: string;
  /** Epoch milliseconds. */
  readonly updatedMs: number;
}
