/**
 * Why a state store refused or failed. Callers decide by the code; the message is for operators.
 *
 * | code | meaning | again? |
 * | --- | --- | --- |
 * | `unavailable` | the store does not answer, or its disk is full | yes; each write may be repeated |
 * | `read_only` | the store's disk accepts no writes | when an operator has acted |
 * | `conflict` | the object has another version than the caller's, or exists already | after another read |
 * | `not_found` | there is no such object | no |
 * | `id_gone` | the object was deleted; its id is not given again | no |
 * | `digest_taken` | another key has this digest | no |
 * | `invalid` | a value is outside the bounds of the port | no |
 * | `not_allowed` | the actor may not change so much | no |
 * | `full` | a bound of the store is reached | when an operator has acted |
 * | `sealed` | a secret cannot be opened or sealed: the key is missing, wrong, or the row was changed | no |
 * | `in_use` | another process owns the store | when that process has ended |
 * | `newer_store` | a later release has written the store | with that release |
 * | `damaged` | the store is not what this release wrote | with a backup |
 * | `rolled_back` | the store has an earlier version than this gateway has seen | when an operator has accepted it |
 */
export type StateFailureCode =
  | 'unavailable'
  | 'read_only'
  | 'conflict'
  | 'not_found'
  | 'id_gone'
  | 'digest_taken'
  | 'invalid'
  | 'not_allowed'
  | 'full'
  | 'sealed'
  | 'in_use'
  | 'newer_store'
  | 'damaged'
  | 'rolled_back';

export class StateFailure extends Error {
  readonly code: StateFailureCode;

  constructor(code: StateFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StateFailure';
    this.code = code;
  }
}
