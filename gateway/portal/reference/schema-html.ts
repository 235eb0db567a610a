// Renders parameters, members and choices as lists that unfold. Each item has its own address.

import { type createSlugs, escapeHtml } from '../html.ts';
import { renderDescription } from '../markdown.ts';
import type { MediaView } from './body-view.ts';
import type { ParameterView } from './operation-view.ts';
import type { MemberView, SchemaView } from './schema-view.ts';

type Slug = ReturnType<typeof createSlugs>;

/** Renders the schemas of one page, on which ids are unique. */
export class SchemaHtml {
  readonly #slug: Slug;

  constructor(slug: Slug) {
    this.#slug = slug;
  }

  parameters(list: readonly ParameterView[]): string {
    const items = list.map((parameter) => {
      const { place, name, isRequired, schema, description, isDeprecated } = parameter;
      const shown = { ...schema, description: description || schema.description };
      const member = { name, isRequired, schema: { ...shown, isDeprecated: isDeprecated || schema.isDeprecated } };
      return this.#item(member, `${place}-${name}`);
    });
    return `<ul class="members">${items.join('\n')}</ul>`;
  }

  /** Renders the media types of a body or an answer, each with its schema. */
  media(all: readonly MediaView[], prefix: string): string {
    return all
      .map(({ type, schema }) => `<p class="media"><code>${escapeHtml(type)}</code></p>${this.whole(schema, prefix)}`)
      .join('\n');
  }

  /** Renders the type and rules of a body or an answer, and then its members. */
  whole(schema: SchemaView, prefix: string): string {
    const inside = this.#contentOf(schema, prefix);
    const own = this.#details({ ...schema, members: [], choices: [] }, prefix, prefix);
    if (inside === '') return `<p class="type">${escapeHtml(schema.type)}</p>${own}`;
    return own + inside;
  }

  #item({ name, isRequired, schema }: MemberView, prefix: string): string {
    const id = this.#slug(prefix, 'member');
    const marks = [
      isRequired ? '<span class="required">required</span>' : '',
      schema.isDeprecated ? '<span class="deprecated">deprecated</span>' : '',
    ].join(' ');
    return `<li id="${id}"><div class="member-head"><a class="member-name" href="#${id}"><code>${escapeHtml(name)}</code></a>
<span class="type">${escapeHtml(schema.type)}</span> ${marks}</div>
${this.#details(schema, name, prefix)}</li>`;
  }

  /** Renders the description, the rules and all nested schemas. */
  #details(schema: SchemaView, name: string, prefix: string): string {
    const rules = schema.rules.map((rule) => `<li>${code(rule)}</li>`).join('');
    const values = schema.values.map((value) => `<li><code>${escapeHtml(value)}</code></li>`).join('');
    const label = schema.values.length === 1 ? 'Always' : 'One of';
    return [
      `<div class="member-text">${renderDescription(schema.description)}</div>`,
      rules && `<ul class="rules">${rules}</ul>`,
      values && `<div class="values"><span>${label}</span><ul>${values}</ul></div>`,
      schema.cut && `<p class="cut">${escapeHtml(schema.cut)}</p>`,
      this.#nestedHtml(schema, name, prefix),
    ]
      .filter(Boolean)
      .join('\n');
  }

  #nestedHtml(schema: SchemaView, name: string, prefix: string): string {
    const inside = this.#contentOf(schema, prefix);
    if (inside === '') return '';
    const count = schema.members.length;
    const what = count > 0 ? `${count} ${count === 1 ? 'field' : 'fields'}` : `${schema.choices.length} forms`;
    return `<details class="nested"><summary>${what} <span class="quiet">of ${escapeHtml(name)}</span></summary>${inside}</details>`;
  }

  /** Renders the members and choices of a schema, unfolded. */
  #contentOf(schema: SchemaView, prefix: string): string {
    const members = schema.members.map((member) => this.#item(member, `${prefix}-${member.name}`));
    const choices = schema.choices.map(({ label, schema: choice }, index) => {
      const open = index === 0 && members.length === 0 ? ' open' : '';
      const inside = `${this.#details({ ...choice, members: [], choices: [] }, label, prefix)}${this.#contentOf(choice, `${prefix}-${label}`)}`;
      return `<details class="choice"${open}><summary>${escapeHtml(label)}</summary>${inside}</details>`;
    });
    const list = members.length === 0 ? '' : `<ul class="members">${members.join('\n')}</ul>`;
    return list + choices.join('\n');
  }
}

/** Longer patterns are folded, because few readers understand them at a glance. */
const PATTERN_MAX = 40;

/** Renders a rule, a pattern as code, and other rules as words. */
function code(rule: string): string {
  const [, word = '', value = ''] = /^(matches|default) (.*)$/s.exec(rule) ?? [];
  if (word === '') return escapeHtml(rule);
  const shown = `<code>${escapeHtml(value)}</code>`;
  if (word === 'default' || value.length <= PATTERN_MAX) return `${word} ${shown}`;
  return `<details class="pattern"><summary>matches a pattern</summary>${shown}</details>`;
}
