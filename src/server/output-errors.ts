/**
 * For a process that serves: what cannot be written to standard output or standard error is lost, and no reason to end. Node
 * would take an `error` event without a listener for an uncaught exception.
 */
export function surviveOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
