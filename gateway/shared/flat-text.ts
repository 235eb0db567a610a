// Flattens texts that many requests share.

/** The same text in one piece. V8 keeps a joined text as a tree of its pieces, and walks that in every text that contains it. */
export function flat<Text extends string>(text: Text): Text {
  return Buffer.from(text).toString() as Text;
}
