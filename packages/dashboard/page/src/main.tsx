import './language.ts';
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import { App } from './app.tsx';
import './style.css';

const root = document.getElementById('page')!;
root.replaceChildren();
render(<App />, root);
