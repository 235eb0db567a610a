// Escapes text for HTML, and forms the ids and addresses of pages.

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** The longest slug. */
export const SLUG_MAX = 80;

/** Returns text of the letters, digits, hyphens and underscores of an address; `fallback` if nothing remains. */
function slugOf(text: string, fallback: string): string {
  const slug = text
    .slice(0, SLUG_MAX * 4)
    .replace(/[^A-Za-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, SLUG_MAX);
  return slug || fallback;
}

/** Makes slugs that differ from each other. The second slug of a name gets `-2`. */
export function createSlugs(): (text: string, fallback: string) => string {
  const taken = new Set<string>();
  return (text, fallback) => {
    const wanted = slugOf(text, fallback);
    let slug = wanted;
    for (let count = 2; taken.has(slug); count += 1) slug = `${wanted}-${count}`;
    taken.add(slug);
    return slug;
  };
}

/** Cuts a text after a word, to less than `max` characters. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, max - 1)
    .replace(/\s+\S*$/, '')
    .trimEnd()}…`;
}
