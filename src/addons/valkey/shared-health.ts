import { isObject, parseJson } from '../../formats/json/object.ts';
import type { HealthLink, OpenedTarget } from '../../core/memory/ports.ts';
import type { SharedEngine } from './engine/engine.ts';

interface SharedHealthSetup {
  readonly engine: SharedEngine;
  readonly prefix: string;
  readonly process: string;
}

/** Circuit breakers that have opened, as messages. One that is lost costs a gateway the failures that it then sees itself. */
export class SharedHealth implements HealthLink {
  readonly #setup: SharedHealthSetup;
  readonly #listeners: ((opened: OpenedTarget) => void)[] = [];

  constructor(setup: SharedHealthSetup) {
    this.#setup = setup;
    setup.engine.subscribe(this.#channel, (message) => this.#heard(message));
  }

  tell(opened: OpenedTarget): void {
    const { engine, process } = this.#setup;
    if (!engine.isUp) return;
    engine.ask('breakers', ['PUBLISH', this.#channel, JSON.stringify({ ...opened, process })]).catch(() => {});
  }

  onTold(listener: (opened: OpenedTarget) => void): void {
    this.#listeners.push(listener);
  }

  get #channel(): string {
    return `${this.#setup.prefix}:breakers`;
  }

  #heard(message: string): void {
    const opened = read(message);
    if (!opened || opened.process === this.#setup.process) return;
    const { process: _, ...target } = opened;
    for (const listener of this.#listeners) listener(target);
  }
}

interface Message extends OpenedTarget {
  readonly process: string;
}

const ERROR_CODE = /^[a-z_]{1,64}$/;

/** Undefined: it is no message of a gateway. */
function read(text: string): Message | undefined {
  const message = parseJson(text);
  if (!isObject(message)) return undefined;
  const { target, waitMs, errorCode, longer, process } = message;
  return typeof target === 'string' &&
    typeof waitMs === 'number' &&
    waitMs >= 0 &&
    typeof errorCode === 'string' &&
    ERROR_CODE.test(errorCode) &&
    typeof longer === 'boolean' &&
    typeof process === 'string'
    ? { target, waitMs, errorCode, longer, process }
    : undefined;
}
