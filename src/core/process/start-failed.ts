/** A start that failed for a reason outside the settings files. The message is a sentence for the operator, without secrets. */
export class StartFailed extends Error {
  override readonly name: string = 'StartFailed';
}
