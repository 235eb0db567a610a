// Writes the media types of a body or an answer, each with its schema, as lines of Markdown.

import type { MediaView } from './body-view.ts';
import type { MemberView, SchemaView } from './schema-view.ts';

export function mediaLines(media: readonly MediaView[]): string[] {
  return media.flatMap(({ type, schema }) => [
    `\`${type}\`: ${schema.type}${tailOf(schema)}`,
    memberLines(schema.members, '').join('\n'),
  ]);
}

function memberLines(members: readonly MemberView[], indent: string): string[] {
  return members.flatMap(({ name, isRequired, schema }) => [
    `${indent}- \`${name}\` (${schema.type}${isRequired ? ', required' : ''})${tailOf(schema)}`,
    ...memberLines(schema.members, `${indent}  `),
    ...schema.choices.flatMap(({ label, schema: choice }) => [
      `${indent}  - ${label}${tailOf(choice)}`,
      ...memberLines(choice.members, `${indent}    `),
    ]),
  ]);
}

/** Returns the description and the rules in one line. */
export function tailOf({ description, rules, values, cut }: SchemaView): string {
  const text = description.replace(/\s+/g, ' ').trim();
  const listed = values.length === 0 ? '' : `One of ${values.map((value) => `\`${value}\``).join(', ')}.`;
  const ruled = rules.length === 0 ? '' : `(${rules.join('; ')})`;
  const tail = [text, listed, ruled, cut ?? ''].filter(Boolean).join(' ');
  return tail === '' ? '' : `: ${tail}`;
}
