import type { ComponentChildren } from 'preact';
import { SearchField } from './search-field.tsx';

interface HeadProps {
  readonly title: string;
  /** Beside the title. */
  readonly actions?: ComponentChildren;
  /** The words of a field that searches the rows. */
  readonly find?: string | undefined;
  readonly ruled?: boolean;
  readonly children?: ComponentChildren;
}

/** The head of a screen: its name, what can be done there, and what narrows its rows. */
export const Head = ({ title, actions, find, ruled = find !== undefined, children }: HeadProps) => (
  <header class={ruled ? 'head ruled' : 'head'}>
    <div class="row">
      <h1 class="grow">{title}</h1>
      {actions}
    </div>
    {children}
    {find !== undefined && <SearchField label={find} />}
  </header>
);
