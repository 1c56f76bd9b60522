/** Names of real models and replies have some tens of characters. */
const MAX_REPEATED = 512;

/**
 * A name of the upstream's that every chunk of a stream repeats; undefined for one so long that the stream would become a multiple of
 * what was received. The client's context has another.
 */
export function repeatable(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= MAX_REPEATED ? name : undefined;
}
