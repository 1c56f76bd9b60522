import type { Cancellation, GatewayError } from '../../plugin/index.ts';

interface Workers {
  readonly workers: number;
  /** Cancels the work on all items. */
  readonly group: Cancellation;
  /** The cancellation of the whole. */
  readonly within: Cancellation;
  /** The reason for the work that is cancelled after a failure. */
  readonly giveUp: (failure: unknown) => GatewayError;
}

/** Works on all items, some in parallel. The first failure cancels the others. */
export async function inParallel<T>(
  items: Iterator<T> & Iterable<T>,
  { workers, group, within, giveUp }: Workers,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const stopListening = within.onCancel((reason) => group.cancel(reason));
  const one = async (): Promise<void> => {
    // Workers share the iterator: each takes the next pending item.
    for (const item of items) {
      if (group.reason) throw group.reason;
      await work(item);
    }
  };
  try {
    await Promise.all(Array.from({ length: workers }, one));
  } catch (error) {
    group.cancel(giveUp(error));
    throw error;
  } finally {
    stopListening();
  }
}
