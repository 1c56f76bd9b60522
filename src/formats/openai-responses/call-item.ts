import type { EchoedTool } from '../format.ts';
import { jsonBytes, literalOf } from '../json/literal.ts';
import { isObject, parseJson } from '../json/object.ts';
import { WrittenText } from '../json/written-text.ts';
import type { ItemPlace, ResponseEvents } from './response-events.ts';

/** How an item names its call and the arguments. */
interface CallForm {
  readonly type: string;
  /** The member of the arguments in the item as it is announced. */
  readonly begun: string;
  /** Arguments of a call without any. OpenAI's stream has them as a piece too. Default: an empty text */
  readonly none?: string;
  /** The same member of the item that is whole. */
  readonly whole: (args: string) => string;
  /** The events of a piece of the arguments, and of all of them. Undefined: they come with the whole item. */
  readonly delta?: string;
  readonly done?: string;
}

/** An item: `{"type":"function_call","status":"completed","call_id":"c1","name":"add","arguments":"{\"a\":1}"}`. */
const CALLS: Readonly<Record<EchoedTool['kind'], CallForm>> = {
  function: {
    type: 'function_call',
    begun: '"arguments":""',
    none: '{}',
    whole: (args) => `"arguments":${jsonBytes(args)}`,
    delta: 'function_call_arguments.delta',
    done: 'function_call_arguments.done',
  },
  custom: {
    type: 'custom_tool_call',
    begun: '"input":""',
    whole: (input) => `"input":${jsonBytes(input)}`,
    delta: 'custom_tool_call_input.delta',
    done: 'custom_tool_call_input.done',
  },
  tool_search: {
    type: 'tool_search_call',
    begun: '"arguments":{}',
    whole: (args) => {
      const given = parseJson(args);
      return `"arguments":${jsonBytes(isObject(given) ? given : {})}`;
    },
  },
};

/** A call, before its item has a place. */
export class CallHead {
  readonly form: CallForm;
  /** The member of the last event of the arguments that names the function. */
  readonly name: string;
  /** The members between the status and the arguments. */
  readonly #fields: string;

  constructor(id: string, { name, namespace, kind }: EchoedTool) {
    const space = namespace === undefined ? '' : `,"namespace":${jsonBytes(namespace)}`;
    const named = kind === 'tool_search' ? '"execution":"client"' : `"name":${jsonBytes(name)}${space}`;
    this.form = CALLS[kind];
    this.name = kind === 'function' ? `,"name":${jsonBytes(name)}` : '';
    this.#fields = `"call_id":${jsonBytes(id)},${named}`;
  }

  /** @param args the member of the arguments */
  item(status: string, args: string): string {
    return `{"type":"${this.form.type}","status":"${status}",${this.#fields},${args}}`;
  }
}

/** A call while its arguments are written. */
export class CallItem {
  readonly place: ItemPlace;
  readonly #stream: ResponseEvents | undefined;
  readonly #head: CallHead;
  readonly #text = new WrittenText();
  #isEmpty = true;

  constructor(place: ItemPlace, stream: ResponseEvents | undefined, head: CallHead) {
    this.place = place;
    this.#stream = stream;
    this.#head = head;
  }

  add(text: string): void {
    this.#isEmpty = false;
    this.#text.add(text);
    const { delta } = this.#head.form;
    if (delta !== undefined) this.#stream?.delta(delta, this.place.head, literalOf(text));
  }

  whole(status: string): string {
    const { form, name } = this.#head;
    if (this.#isEmpty && form.none !== undefined) this.add(form.none);
    const args = form.whole(this.#text.take());
    if (form.done !== undefined) this.#stream?.event(form.done, `${this.place.head},${args}${name}`);
    return this.#head.item(status, args);
  }
}
