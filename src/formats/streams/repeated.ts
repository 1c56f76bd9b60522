/** Real names of models and replies have some tens of characters. */
const MAX_REPEATED = 512;

/**
 * An upstream name that every chunk of a stream repeats. Undefined for one so long that the stream would become a
 * multiple of the received bytes: the client's context has another name.
 */
export function repeatable(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= MAX_REPEATED ? name : undefined;
}
