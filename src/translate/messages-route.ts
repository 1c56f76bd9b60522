import { GatewayError, type Operation, type ResolvedTarget, type Target } from '../plugin/index.ts';

/**
 * A config may restrict `/v1/messages` to the Claude family, whose native API it is. The family is every model that speaks this API,
 * whatever its name. Throws GatewayError.
 */
export function checkMessagesRoute(
  operation: Operation,
  { messagesRoute }: Pick<Target, 'messagesRoute'>,
  { slug, model, format }: Pick<ResolvedTarget, 'slug' | 'model' | 'format'>,
): void {
  if (operation.id !== 'messages' || messagesRoute === 'any' || format === operation.format.name) return;
  throw new GatewayError(
    'unsupported_task',
    `${operation.path} serves the Claude family only here (messages_route: claude), and ${model} of @${slug} is not of it: use /v1/chat/completions.`,
    { param: 'model' },
  );
}
