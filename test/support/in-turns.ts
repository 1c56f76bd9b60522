import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that a share of the calls took at most, in the order of `calls`. */
type Durations = readonly number[];

interface InTurns<Answer> {
  readonly rounds: number;
  readonly answers: ReadonlySet<Answer>;
  readonly p50: Durations;
  readonly p99: Durations;
}

/**
 * Makes calls in turns, as often each and for a time at least. Whatever slows the machine slows all of them, so that their durations can be
 * compared at any load. @param least rounds, and milliseconds
 */
export async function inTurns<Answer>(
  calls: readonly (() => Promise<Answer>)[],
  least: { readonly rounds: number; readonly ms: number },
): Promise<InTurns<Answer>> {
  const durations = calls.map((): number[] => []);
  const answers = new Set<Answer>();
  let rounds = 0;
  for (const from = performance.now(); rounds < least.rounds || performance.now() - from < least.ms; rounds += 1) {
    for (const [at, call] of calls.entries()) {
      const sent = performance.now();
      answers.add(await call());
      durations[at]!.push(performance.now() - sent);
    }
    await sleep(5);
  }
  const at = (share: number): Durations =>
    durations.map((one) => one.toSorted((x, y) => x - y)[Math.floor(one.length * share)]!);
  return { rounds, answers, p50: at(0.5), p99: at(0.99) };
}
