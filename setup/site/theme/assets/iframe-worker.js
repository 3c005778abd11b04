// SPDX-License-Identifier: LGPL-2.1-only
// Browsers start no workers from files. Material's search is one: opened from a file, it gets a hidden frame instead.
if (location.protocol === "file:") {
  const load = (frame, url) =>
    new Promise((done, failed) => {
      const script = frame.contentDocument.createElement("script");
      Object.assign(script, { src: url, async: false, onload: done, onerror: failed });
      frame.contentDocument.head.append(script);
    });

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true, srcdoc: "<!doctype html>" });
      this.inside = new Promise((done) => {
        frame.onload = async () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inside.importScripts = (...urls) => Promise.all(urls.map((one) => load(frame, one)));
          await load(frame, url);
          done(inside);
        };
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
