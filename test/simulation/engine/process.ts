// A process in a simulated world: its clocks, timers and random numbers, as `gateway/shared/machine.ts` has them. It can stand still, be
// killed, and start again.

import type { Machine, Timer } from '../../../gateway/shared/machine.ts';
import type { ScheduledEvent } from './queue.ts';
import type { Random } from './random.ts';
import { BEGINNING_MS, type World } from './world.ts';

/** Timers of a busy process are late by up to so much. */
const TIMER_LATE_MS = 2;
/** How long a process that hesitates stands still at most before it takes a message. */
const HESITATION_MS = 5000;
/** How long it is known afterwards how long a process stood still. */
const STOPS_KEPT_MS = 60_000;

interface ProcessClock {
  /** What its clock of the day differs from the true time, milliseconds. */
  readonly offsetMs?: number;
  /** By which factor its clocks are too fast: 0.00005 is 50 µs in a second. */
  readonly drift?: number;
}

export class SimulatedProcess {
  readonly world: World;
  readonly name: string;
  readonly machine: Machine;
  readonly #random: Random;
  #offsetMs: number;
  readonly #drift: number;
  /** True time at which it started. */
  readonly bornMs: number;
  #state: 'running' | 'paused' | 'dead' = 'running';
  /** What happened while it stood still: it takes it up when it goes on. */
  #missed: { readonly kind: 'timer' | 'message'; readonly run: () => void }[] = [];
  /** How long its monotonic clock stood still with it. */
  #suspendedMs = 0;
  #pausedAtMs = 0;
  #killedMs = Number.POSITIVE_INFINITY;
  #endedMs = Number.POSITIVE_INFINITY;
  /** When it stood still lately. */
  #stops: { readonly fromMs: number; readonly untilMs: number }[] = [];
  /** When it last stopped standing still, or was killed. */
  #stoodStillMs = Number.NEGATIVE_INFINITY;
  #suspends = false;
  /** How often it stands still before it takes a message. */
  #hesitates = 0;

  constructor(world: World, name: string, { offsetMs = 0, drift = 0 }: ProcessClock = {}) {
    this.world = world;
    this.name = name;
    this.#random = world.random.named(`process ${name} ${world.now()}`);
    this.#offsetMs = offsetMs;
    this.#drift = drift;
    this.bornMs = world.now();
    this.machine = this.#createMachine();
  }

  isAlive(): boolean {
    return this.#state !== 'dead';
  }

  /** True time; Infinity: it was not killed. */
  killedMs(): number {
    return this.#killedMs;
  }

  /** True time at which it ended by itself, with all of its work done; Infinity: it has not. */
  endedMs(): number {
    return this.#endedMs;
  }

  isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Whether it has stood still, or was killed, at or after this true time. */
  stoodStillSince(fromMs: number): boolean {
    return this.#state === 'paused' || this.#stoodStillMs >= fromMs;
  }

  /** How long it has stood still in all since this true time, which is not more than a minute ago. */
  stoodStillMs(fromMs: number): number {
    return this.#stops.reduce((sum, stop) => sum + Math.max(0, stop.untilMs - Math.max(fromMs, stop.fromMs)), 0);
  }

  /** Runs something in this process: at once, when it goes on, or never if it is dead. */
  enter(kind: 'timer' | 'message', run: () => void): void {
    if (this.#hesitates > 0 && kind === 'message' && this.#random.chance(this.#hesitates)) this.#standStillBriefly();
    if (this.#state === 'running') run();
    else if (this.#state === 'paused') this.#missed.push({ kind, run });
  }

  /**
   * Stands still.
   *
   * @param suspends its monotonic clock stands still, too, as on a machine that is suspended
   */
  pause(suspends: boolean): void {
    if (this.#state !== 'running') return;
    this.world.note(this.name, suspends ? 'is suspended' : 'stands still');
    this.#state = 'paused';
    this.#pausedAtMs = this.world.now();
    this.#suspends = suspends;
  }

  /** Goes on: with what its timers missed, or with what its sockets missed, as chance will have it. */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.world.note(this.name, 'goes on');
    if (this.#suspends) this.#suspendedMs += this.world.now() - this.#pausedAtMs;
    this.#state = 'running';
    const nowMs = this.world.now();
    this.#stoodStillMs = nowMs;
    this.#stops = this.#stops.filter(({ untilMs }) => untilMs > nowMs - STOPS_KEPT_MS);
    this.#stops.push({ fromMs: this.#pausedAtMs, untilMs: nowMs });
    const first = this.#random.pick(['timer', 'message'] as const);
    const missed = this.#missed;
    this.#missed = [];
    const ordered = [...missed.filter(({ kind }) => kind === first), ...missed.filter(({ kind }) => kind !== first)];
    for (const { kind, run } of ordered) this.world.after(0, () => this.enter(kind, run));
  }

  /**
   * Stands still now and then just as a message has come, as a process does that shares its cores: it then acts on what was true before.
   *
   * @param chance for each message, from 0 to 1; 0: no more
   */
  hesitate(chance: number): void {
    this.#hesitates = chance;
    if (chance === 0) this.resume();
  }

  #standStillBriefly(): void {
    if (this.#state !== 'running') return;
    this.pause(false);
    this.world.after(this.#random.between(0, HESITATION_MS), () => this.resume());
  }

  kill(): void {
    if (this.#state === 'dead') return;
    this.world.note(this.name, 'is killed');
    this.#die();
    this.#killedMs = this.world.now();
    this.#stoodStillMs = this.world.now();
  }

  /** It has done all of its work: nothing is lost with it. */
  end(): void {
    if (this.#state === 'dead') return;
    this.world.note(this.name, 'has ended');
    this.#die();
    this.#endedMs = this.world.now();
  }

  #die(): void {
    this.#state = 'dead';
    this.#missed = [];
  }

  /** Sets its clock of the day forward, or back. */
  jump(ms: number): void {
    this.world.note(this.name, `its clock jumps by ${ms} ms`);
    this.#offsetMs += ms;
  }

  /** How long it has run, by a clock that may be too fast or too slow. */
  #lifeMs(): number {
    return (this.world.now() - this.bornMs) * (1 + this.#drift);
  }

  #createMachine(): Machine {
    const random = this.#random;
    return {
      now: () => Math.floor(BEGINNING_MS + this.bornMs + this.#lifeMs() + this.#offsetMs),
      performance: { now: () => this.#lifeMs() - this.#suspendedMs },
      setTimeout: (run, ms, ...args) => this.#startTimer(() => run(...args), ms, false),
      clearTimeout: stopTimer,
      setInterval: (run, ms) => this.#startTimer(run, ms, true),
      clearInterval: stopTimer,
      setImmediate: (run, ...args) => this.world.after(0, () => this.enter('message', () => run(...args))),
      sleep: (ms, { signal } = {}) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          this.#startTimer(() => resolve(), ms, false);
        }),
      random: random.next,
      randomBytes: random.bytes,
      randomUUID: () => random.bytes(16).toString('hex'),
    };
  }

  #startTimer(run: () => void, ms: number, repeats: boolean): Timer {
    const timer = new SimulatedTimer(this, run, Math.max(1, ms), repeats, () => this.#random.next() * TIMER_LATE_MS);
    timer.refresh();
    return timer;
  }
}

class SimulatedTimer implements Timer {
  readonly #owner: SimulatedProcess;
  readonly #run: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  readonly #lateMs: () => number;
  #event: ScheduledEvent | undefined;

  constructor(owner: SimulatedProcess, run: () => void, ms: number, repeats: boolean, lateMs: () => number) {
    this.#owner = owner;
    this.#run = run;
    this.#ms = ms;
    this.#repeats = repeats;
    this.#lateMs = lateMs;
  }

  unref(): Timer {
    return this;
  }

  refresh(): Timer {
    this.stop();
    const event = this.#owner.world.after(this.#ms + this.#lateMs(), () => {
      // A timer that is stopped while its process stands still does not fire.
      this.#owner.enter('timer', () => {
        if (event.isCancelled) return;
        if (this.#repeats) this.refresh();
        this.#run();
      });
    });
    this.#event = event;
    return this;
  }

  stop(): void {
    if (this.#event !== undefined) this.#event.isCancelled = true;
  }
}

function stopTimer(timer: Timer | undefined): void {
  (timer as SimulatedTimer | undefined)?.stop();
}
