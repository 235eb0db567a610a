// All panels of the page.

import { certificates, configuration, everything, stores, upstreams, versions, workers } from './state-panels.js';
import { attention, charts, codes, operations, organizations, tiles } from './traffic-panels.js';

/** @returns a function that shows a feed in all panels */
export function createPanels() {
  const make = [
    ...[attention, tiles, charts, operations, codes, organizations],
    ...[upstreams, stores, configuration, workers, certificates, versions, everything],
  ];
  const panels = make.map((panel) => panel());
  return (feed) => {
    for (const show of panels) show(feed);
  };
}
