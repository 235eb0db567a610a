// Reload of all instances: new versions are saved on the disks of all gateways, one after another, some of them with a mistake, some soon
// after the one before. Each gateway follows its disk, and says what came of it. Operators ask for a reload, too, as SIGHUP does.

import { OutOfFiles } from '../../../gateway/config/free-files.ts';
import type { Configuration } from '../../../gateway/configuration.ts';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { Reloads } from '../../../gateway/wiring/reload.ts';
import { ConfigurationChecker, type DiskState } from '../checkers/configurations.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';

const SAVE_GAP_MS = 60_000;
const ASK_GAP_MS = 60_000;
/** A process that is told to end answers requests for so long. */
const ENDS_AFTER_MS = 2000;
/** This share of loads finds no file descriptor left. */
const OUT_OF_FILES = 0.03;
/** Saved files have to lie still before they are loaded. */
const STILL_MS = 250;
const LOOK_MS = 1000;
const START_AGAIN_MS = 1000;

export const reloadProtocol: Protocol = {
  name: 'reload',
  processesMax: 4,
  calmMs: 60_000,
  faults: { pause: 3, suspend: 1, hesitate: 1, kill: 3, stop: 3, clock: 1 },
  start: startReloads,
};

interface Disk {
  state: DiskState;
  readonly checker: ConfigurationChecker;
  /** The watch of the process that runs here. */
  changed: () => void;
  reloads: Reloads | undefined;
  runsSinceMs: number | undefined;
}

const source = { value: {} };
const sources = { gateway: source, upstreams: source, limits: source };
const config = { gateway: { limits: {} }, sources } as unknown as Configuration['config'];

function configurationOf(version: number): Configuration {
  return {
    config,
    version: String(version),
    isListed: false,
    contracts: { operations: [] },
    files: new Map([['a', String(version)]]),
  } as unknown as Configuration;
}

function startReloads(world: World, processes: number): Running {
  const random = world.random.named('reload');
  const disks = new Map<string, Disk>();
  let version = 1;

  function diskOf(place: Place): Disk {
    let disk = disks.get(place.name);
    if (disk === undefined) {
      const checker = new ConfigurationChecker(world, place.name);
      disk = { state: { version, isGood: true }, checker, changed: idle, reloads: undefined, runsSinceMs: undefined };
      checker.saved(disk.state);
      disks.set(place.name, disk);
    }
    return disk;
  }

  const deployment = new Deployment(world, processes, (place, process) => {
    const disk = diskOf(place);
    disk.changed = idle;
    disk.reloads = undefined;
    const start = () => {
      if (!process.isAlive()) return;
      // A start with a mistake fails, and is tried again.
      if (disk.state.isGood) follow(place, process, disk, world);
      else world.after(START_AGAIN_MS, start);
    };
    start();
  });

  function save(): void {
    version += 1;
    const state = { version, isGood: random.chance(0.75) };
    world.note('operator', `saves version ${version}${state.isGood ? '' : ', with a mistake'}`);
    for (const place of deployment.places) {
      world.after(random.between(0, 2000), () => {
        const disk = diskOf(place);
        if (disk.state.version > state.version) return;
        disk.state = state;
        disk.checker.saved(state);
        disk.changed();
      });
    }
    world.after(random.chance(0.3) ? random.between(0, 1500) : random.between(0, 2 * SAVE_GAP_MS), save);
  }
  world.after(3000, save);

  function ask(): void {
    const { process, name } = random.pick(deployment.places);
    const disk = disks.get(name);
    const reloads = disk?.reloads;
    if (disk !== undefined && reloads !== undefined)
      process.enter('message', () => {
        const { state } = disk;
        disk.checker.ask();
        world.note(name, `is asked to load version ${state.version}`);
        void reloads.reload().then(() => {
          if (disk.state === state && disk.reloads === reloads) disk.checker.asked(state, isFailing(reloads));
        });
      });
    world.after(random.between(0, 2 * ASK_GAP_MS), ask);
  }
  world.after(3000, ask);

  function look(): void {
    for (const place of deployment.places) {
      const disk = diskOf(place);
      if (!place.process.isRunning()) disk.runsSinceMs = undefined;
      else disk.runsSinceMs ??= world.now();
      if (disk.reloads !== undefined) disk.checker.look(disk.runsSinceMs, isFailing(disk.reloads));
    }
    world.after(LOOK_MS, look);
  }
  world.after(LOOK_MS, look);

  return { deployment, finish: () => undefined };
}

const isFailing = (reloads: Reloads) => reloads.status().last_failure !== null;

/** No process follows the disk. */
const idle = () => undefined;

function follow(place: Place, process: SimulatedProcess, disk: Disk, world: World): void {
  const { machine } = process;
  let inForce = configurationOf(disk.state.version);
  disk.checker.putInForce(disk.state.version);
  disk.runsSinceMs = undefined;

  async function load(before: Configuration): Promise<Configuration> {
    const { state } = disk;
    world.note(process.name, `loads version ${state.version}`);
    await machine.sleep(5 + machine.random() * 1500);
    if (machine.random() < OUT_OF_FILES) throw new OutOfFiles();
    if (!state.isGood) throw new ConfigError([{ file: 'gateway.yaml', reason: 'it has a mistake' } as never]);
    return String(state.version) === before.version ? before : configurationOf(state.version);
  }

  const logger = { debug: () => undefined, info: () => undefined, error: () => undefined };
  const reloads = new Reloads({
    directories: [],
    secretsDirectory: undefined,
    log: { logger } as never,
    store: { audit: { append: async () => undefined } } as never,
    instance: process.name,
    now: machine.now,
    inForce: () => inForce,
    load,
    check: () => [],
    apply(next) {
      inForce = next;
      world.note(process.name, `puts version ${next.version} in force`);
      disk.checker.putInForce(Number(next.version));
      if (disk.reloads !== reloads) disk.checker.stopped(next.version);
    },
    onOutcome: (outcome) => world.note(process.name, outcome),
    watch({ onChange }) {
      let timer: ReturnType<typeof machine.setTimeout> | undefined;
      disk.changed = () => {
        process.enter('message', () => {
          machine.clearTimeout(timer);
          timer = machine.setTimeout(onChange, STILL_MS);
        });
      };
      return () => {
        disk.changed = idle;
      };
    },
    machine,
  });
  disk.reloads = reloads;
  place.stop = () => {
    reloads.stop();
    disk.reloads = undefined;
    return machine.sleep(ENDS_AFTER_MS);
  };
}
