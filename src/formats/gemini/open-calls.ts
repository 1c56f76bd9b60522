interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/**
 * Calls without a response. Responses pair by id, or by name and order where no ids are sent
 * (docs/protocols/gemini.md#call-ids). Both are indexed, since a turn may hold tens of thousands of calls.
 */
export class OpenCalls {
  readonly #open = new Set<OpenCall>();
  readonly #byId = new Map<string, CallsOfName>();
  readonly #byName = new Map<string, CallsOfName>();

  add(call: OpenCall): void {
    this.#open.add(call);
    enqueue(this.#byId, call.id, call);
    enqueue(this.#byName, call.name, call);
  }

  /** Returns the first open call with this id. */
  byId(id: string): OpenCall | undefined {
    return this.#first(this.#byId.get(id));
  }

  byName(name: string): OpenCall | undefined {
    return this.#first(this.#byName.get(name));
  }

  remove(call: OpenCall): void {
    this.#open.delete(call);
  }

  /** Answered calls stay in the queues until a lookup reaches them. */
  #first(queue: CallsOfName | undefined): OpenCall | undefined {
    if (!queue) return undefined;
    while (queue.next < queue.calls.length && !this.#open.has(queue.calls[queue.next]!)) queue.next += 1;
    return queue.calls[queue.next];
  }
}

interface CallsOfName {
  readonly calls: OpenCall[];
  next: number;
}

function enqueue(queues: Map<string, CallsOfName>, key: string, call: OpenCall): void {
  const queue = queues.get(key);
  if (queue) queue.calls.push(call);
  else queues.set(key, { calls: [call], next: 0 });
}
