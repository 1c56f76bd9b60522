import { isError } from '../../kernel/outside/thrown.ts';
import type { OwnTime } from './own-time.ts';
import { GatewayError, type Sink, type Source } from '../../../plugin/index.ts';

export interface WrapperFaults {
  readonly plugin: string;
  /** Called when a method of the plugin's wrapper throws, or fails the reply with an error of its own. */
  onFault(thrown: unknown): GatewayError;
  /** Called when the deadline ends the reply while the plugin withholds its end. */
  onLate(error: GatewayError): void;
  readonly time?: OwnTime | undefined;
}

/** The wrapped body of each source that `around` returned. */
const wrappedBodies = new WeakMap<Source, WrappedBody>();

/** If a plugin withholds the end of this body, names that plugin in the error and counts its fault. */
export function namedIfHeld(error: GatewayError, body: Source): GatewayError {
  return wrappedBodies.get(body)?.named(error) ?? error;
}

/**
 * A body that an external plugin has wrapped: `inner` is given to it, `outer` the one it made. Unguarded, an error in
 * `push` would be thrown in the upstream's parser, one in `resume` in an event of the client's socket.
 */
export class WrappedBody {
  /** Undefined: the plugin made its own reply. */
  readonly given: Source | undefined;
  /** Replaces the given body while the plugin runs. */
  readonly inner: Source;
  readonly #faults: WrapperFaults;
  #made: Source | undefined;
  #sink: Sink | undefined;
  #over = false;
  #givenOpen = false;
  #givenOver = false;

  constructor(given: Source | undefined, faults: WrapperFaults) {
    this.given = given;
    this.#faults = faults;
    this.inner = new InnerBody(this);
  }

  openGiven(sink: Sink): void {
    this.#givenOpen = true;
    this.given?.open(this.#guardedSink(sink));
  }

  /** The guarded body that replaces the plugin's own for the rest of the chain. */
  around(made: Source): Source {
    this.#made = made;
    const outer: Source = {
      open: (sink) => {
        this.#sink = sink;
        const toClient: Sink = {
          push: (bytes) => this.#push(bytes),
          end: () => this.#end((client) => client.end()),
          fail: (error) => this.#end((client) => client.fail(this.#known(error))),
        };
        this.#guarded(() => made.open(toClient));
      },
      pause: () => this.#guarded(() => made.pause()),
      resume: () => this.#guarded(() => made.resume()),
      cancel: (reason) => this.#cancel(reason),
    };
    wrappedBodies.set(outer, this);
    return outer;
  }

  /** The plugin withholds the end if it made the whole body, or if the body it was given has ended. */
  named(error: GatewayError): GatewayError {
    if (this.given && this.#givenOpen && !this.#givenOver) return namedIfHeld(error, this.given);
    const named = new GatewayError(error.code, error.message, { cause: error, plugin: this.#faults.plugin });
    this.#faults.onLate(named);
    return named;
  }

  /** Guards the plugin's sink for bytes from upstream. */
  #guardedSink(sink: Sink): Sink {
    return {
      push: (bytes) => this.#guarded(() => sink.push(bytes)),
      end: () => {
        this.#givenOver = true;
        this.#guarded(() => sink.end());
      },
      fail: (error) => {
        this.#givenOver = true;
        this.#guarded(() => sink.fail(error));
      },
    };
  }

  #guarded(call: () => void): void {
    if (this.#over) return;
    try {
      // An async method returns a promise, whatever its type says.
      const { time } = this.#faults;
      const result: unknown = time ? time.measure(call) : call();
      if (result instanceof Promise) result.catch((thrown: unknown) => this.#fault(thrown));
    } catch (thrown) {
      this.#fault(thrown);
    }
  }

  #push(bytes: Buffer): void {
    if (this.#over) return;
    // node:http throws for any other type, in the caller.
    if (bytes instanceof Uint8Array) this.#sink?.push(bytes);
    else this.#fault(new TypeError('a wrapped reply may push only bytes'));
  }

  #end(report: (client: Sink) => void): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#sink) report(this.#sink);
  }

  #fault(thrown: unknown): void {
    if (this.#over) return;
    const error = this.#faults.onFault(thrown);
    this.#cancelSources(error);
    this.#end((client) => client.fail(error));
  }

  #cancel(reason: GatewayError): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelSources(reason);
  }

  /** Cancels both bodies: the plugin's own `cancel` may throw, or not cancel the upstream. */
  #cancelSources(reason: GatewayError): void {
    try {
      const result: unknown = this.#made?.cancel(reason);
      if (result instanceof Promise) result.catch((thrown: unknown) => void this.#faults.onFault(thrown));
    } catch (thrown) {
      this.#faults.onFault(thrown);
    }
    this.cancelGiven(reason);
  }

  cancelGiven(reason: GatewayError): void {
    if (this.#givenOver) return;
    this.#givenOver = true;
    this.given?.cancel(reason);
  }

  /** A wrapper may fail the reply with any value. */
  #known(error: unknown): GatewayError {
    return isError(error) && error instanceof GatewayError && error.code !== 'internal_error'
      ? error
      : this.#faults.onFault(error);
  }
}

/** The body that the plugin gets. Most plugins never open it. */
class InnerBody implements Source {
  readonly #wrapped: WrappedBody;

  constructor(wrapped: WrappedBody) {
    this.#wrapped = wrapped;
  }

  open(sink: Sink): void {
    this.#wrapped.openGiven(sink);
  }

  pause(): void {
    this.#wrapped.given?.pause();
  }

  resume(): void {
    this.#wrapped.given?.resume();
  }

  cancel(reason: GatewayError): void {
    this.#wrapped.cancelGiven(reason);
  }
}
