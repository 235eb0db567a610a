// Reload of all instances: new versions are saved on the disks of all gateways, one after another, some of them with a mistake, some soon after the
// one before. Each gateway follows its disk, and notes what came of it in the log of the key store.

import { OutOfFiles } from '../../../gateway/config/free-files.ts';
import type { Configuration } from '../../../gateway/configuration.ts';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { followConfiguration } from '../../../gateway/wiring/reload.ts';
import { ConfigurationChecker, type DiskState } from '../checkers/configurations.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';

const SAVE_GAP_MS = 60_000;
/** Saved files have to lie still before they are loaded. */
const STILL_MS = 250;
const LOOK_MS = 1000;
const START_AGAIN_MS = 1000;

export const reloadProtocol: Protocol = {
  name: 'reload',
  processesMax: 4,
  calmMs: 60_000,
  faults: { pause: 3, suspend: 1, kill: 3, clock: 1, 'redis pause': 1 },
  start: startReloads,
};

interface Disk {
  state: DiskState;
  readonly checker: ConfigurationChecker;
  /** The watch of the process that runs here. */
  changed: () => void;
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
      disk = { state: { version, isGood: true }, checker, changed: () => undefined, runsSinceMs: undefined };
      checker.saved(disk.state);
      disks.set(place.name, disk);
    }
    return disk;
  }

  const deployment = new Deployment(world, processes, (place, process) => {
    const disk = diskOf(place);
    disk.changed = idle;
    const start = () => {
      if (!process.isAlive()) return;
      // A start with a mistake fails, and is tried again.
      if (disk.state.isGood) follow(process, disk, world);
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

  function look(): void {
    for (const place of deployment.places) {
      const disk = diskOf(place);
      if (!place.process.isRunning()) disk.runsSinceMs = undefined;
      else disk.runsSinceMs ??= world.now();
      if (disk.changed !== idle) disk.checker.look(disk.runsSinceMs);
    }
    world.after(LOOK_MS, look);
  }
  world.after(LOOK_MS, look);

  return { deployment, finish: () => undefined };
}

/** No process follows the disk. */
const idle = () => undefined;

function follow(process: SimulatedProcess, disk: Disk, world: World): void {
  const { machine } = process;
  let inForce = configurationOf(disk.state.version);
  disk.checker.putInForce(disk.state.version);
  disk.runsSinceMs = undefined;

  async function load(before: Configuration): Promise<Configuration> {
    const { state } = disk;
    await machine.sleep(5 + machine.random() * 1500);
    if (machine.random() < 0.03) throw new OutOfFiles();
    if (!state.isGood) throw new ConfigError([{ file: 'gateway.yaml', reason: 'it has a mistake' } as never]);
    return String(state.version) === before.version ? before : configurationOf(state.version);
  }

  const logger = { debug: () => undefined, info: () => undefined, error: () => undefined };
  followConfiguration({
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
    },
    onOutcome: () => undefined,
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
}
