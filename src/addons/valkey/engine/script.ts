import { createHash } from 'node:crypto';
import type { Job } from './metrics.ts';
import type { Argument } from './client.ts';
import { isUnknownScript, type SharedEngine } from './engine.ts';

interface ScriptCall {
  readonly job: Job;
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
  readonly limitMs?: number;
}

/** A script that is sent whole once, and by its digest afterwards. It needs no right to SCRIPT, which some services refuse. */
export class Script {
  readonly #text: string;
  readonly #digest: string;

  constructor(text: string) {
    this.#text = text;
    this.#digest = createHash('sha1').update(text).digest('hex');
  }

  async run(engine: SharedEngine, { job, keys, args, ...options }: ScriptCall): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await engine.ask(job, ['EVALSHA', this.#digest, ...rest], options);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return engine.ask(job, ['EVAL', this.#text, ...rest], options);
    }
  }
}
