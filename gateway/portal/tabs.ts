// Tabs that need no script: for each radio button, the style sheet shows the panel with the same number.

import { escapeHtml } from './html.ts';

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** HTML. */
  readonly panel: string;
}

/** The style sheet has rules for this many. */
const TABS_MAX = 12;

/** Renders tabs. @param name name of the group, unique on the page. The script stores the choice in the group `language` */
export function tabs(name: string, legend: string, all: readonly Tab[]): string {
  const shown = all.slice(0, TABS_MAX);
  const buttons = shown.map(({ id, label }, index) => {
    const key = `${name}-${id}`;
    const checked = index === 0 ? ' checked' : '';
    return `<input type="radio" name="${name}" id="${key}" value="${id}"${checked}><label for="${key}">${escapeHtml(label)}</label>`;
  });
  return `<div class="tabs" data-tabs="${name}"><fieldset class="tab-list"><legend class="quiet">${escapeHtml(legend)}</legend>${buttons.join('')}</fieldset>
<div class="panels">${shown.map(({ panel }) => `<div class="panel">${panel}</div>`).join('\n')}</div></div>`;
}
