import { isError } from '../plugin/blame.ts';
import { GatewayError, type Sink, type Source } from '../plugin/index.ts';

export interface WrapperFaults {
  /** Of the plugin, in the settings. */
  readonly plugin: string;
  /** A method of the plugin's wrapper threw, or failed the reply with an error of its own. */
  onFault(thrown: unknown): GatewayError;
  /** The deadline ended the reply while the plugin kept its end back. */
  onLate(error: GatewayError): void;
}

/** The bodies of `around`. */
const wrappedBodies = new WeakMap<Source, WrappedBody>();

/** The same error with the name of the plugin that keeps the end of this body back, and that plugin's fault counted. */
export function namedIfHeld(error: GatewayError, body: Source): GatewayError {
  return wrappedBodies.get(body)?.named(error) ?? error;
}

/**
 * A body that a plugin from outside has wrapped: `inner` is the body it was given, `outer` the one it made. Without this a throw in
 * `push` ends in the upstream's parser, and one in `resume` in an event of the client's socket: the end of the process.
 */
export class WrappedBody {
  /** Undefined: the plugin made a reply of its own. */
  readonly given: Source | undefined;
  /** Stands in the place of the given body while the plugin runs. */
  readonly inner: Source;
  readonly #faults: WrapperFaults;
  #made: Source | undefined;
  #sink: Sink | undefined;
  #over = false;
  #givenOpen = false;
  /** The given body has ended, or is cancelled. */
  #givenOver = false;

  constructor(given: Source | undefined, faults: WrapperFaults) {
    this.given = given;
    this.#faults = faults;
    this.inner = {
      open: (sink) => {
        this.#givenOpen = true;
        given?.open(this.#guardedSink(sink));
      },
      pause: () => given?.pause(),
      resume: () => given?.resume(),
      cancel: (reason) => this.#cancelGiven(reason),
    };
  }

  /** What the chain goes on with in place of the plugin's own body. */
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

  /** The plugin keeps the end back where it made the whole body, or where the body it was given has ended. */
  named(error: GatewayError): GatewayError {
    if (this.given && this.#givenOpen && !this.#givenOver) return namedIfHeld(error, this.given);
    const named = new GatewayError(error.code, error.message, { cause: error, plugin: this.#faults.plugin });
    this.#faults.onLate(named);
    return named;
  }

  /** Towards the plugin: what comes from upstream. */
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
      // An async method answers with a promise, whatever the type says.
      const result: unknown = call();
      if (result instanceof Promise) result.catch((thrown: unknown) => this.#fault(thrown));
    } catch (thrown) {
      this.#fault(thrown);
    }
  }

  #push(bytes: Buffer): void {
    if (this.#over) return;
    // node:http throws for anything else, in the caller.
    if (bytes instanceof Uint8Array) this.#sink?.push(bytes);
    else this.#fault(new TypeError('a wrapped reply may push bytes only'));
  }

  /** The one end of the reply. */
  #end(report: (client: Sink) => void): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#sink) report(this.#sink);
  }

  #fault(thrown: unknown): void {
    if (this.#over) return;
    const error = this.#faults.onFault(thrown);
    this.#letGo(error);
    this.#end((client) => client.fail(error));
  }

  #cancel(reason: GatewayError): void {
    if (this.#over) return;
    this.#over = true;
    this.#letGo(reason);
  }

  /** The plugin's own `cancel` may throw, or forget the upstream. */
  #letGo(reason: GatewayError): void {
    try {
      const result: unknown = this.#made?.cancel(reason);
      if (result instanceof Promise) result.catch((thrown: unknown) => void this.#faults.onFault(thrown));
    } catch (thrown) {
      this.#faults.onFault(thrown);
    }
    this.#cancelGiven(reason);
  }

  #cancelGiven(reason: GatewayError): void {
    if (this.#givenOver) return;
    this.#givenOver = true;
    this.given?.cancel(reason);
  }

  /** A wrapper may fail the reply with anything. */
  #known(error: unknown): GatewayError {
    return isError(error) && error instanceof GatewayError && error.code !== 'internal_error'
      ? error
      : this.#faults.onFault(error);
  }
}
