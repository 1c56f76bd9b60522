import { appendFileSync } from 'node:fs';

/** What became of the requests that one gateway has served. */
export class Tally {
  compared = 0;
  attempts = 0;
  /** Their explanations compared too. */
  reported = 0;
  ms = 0;
  readonly left = new Map<string, number>();

  /** @param why the unpredictable event that a served request has met */
  leave(why: string, requests = 1): void {
    this.left.set(why, (this.left.get(why) ?? 0) + requests);
  }
}

/** Into the file that AGREEMENT_LOG names, one line for each gateway of a run: test/README.md says how it is read. */
export function logTally({ compared, attempts, reported, ms, left }: Tally): void {
  const file = process.env['AGREEMENT_LOG'];
  if (file === undefined || file === '') return;
  appendFileSync(
    file,
    `${JSON.stringify({ compared, attempts, reported, ms: Math.round(ms), left: Object.fromEntries(left) })}\n`,
  );
}
