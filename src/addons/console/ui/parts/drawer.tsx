import type { ComponentChildren } from 'preact';

/** The detail of a row, beside the list; its own page on a narrow screen. */
export const Drawer = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <aside class="drawer" aria-label={label} tabIndex={-1}>
    {children}
  </aside>
);
