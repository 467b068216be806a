// The proxy process: a tcp_proxy that obeys lines of JSON.
//
// Each input line is a command and gets one line with its id in reply:
//   {"id":1,"do":"open","host":"127.0.0.1","port":6379,"listen":0}   {"id":1,"link":0,"port":40001}
//   {"id":2,"do":"set","links":[0],"mode":"cut"}                     {"id":2}
//   {"id":3,"do":"set","links":[0,1],"mode":"delay","by_ns":1000000} {"id":3}
//   {"id":4,"do":"await","links":[0],"word":"SETNX","nth":1,
//    "answer":":1"}                                                {"id":4}
//   {"id":5,"do":"go","links":[0]}                                   {"id":5}
//   a command that fails                                             {"id":6,"error":"a sentence"}
// Unasked, it writes {"hit":0} when the reply to an awaited request on link 0 has come and is held
// back.
//
// Ends when its input ends. The kernel closes the input when the parent dies, for whatever reason.
#pragma once

namespace lockmark::faults {

// Serves until `in` ends; returns the exit status. Its links die with it.
int serve_proxies(int in, int out);

}  // namespace lockmark::faults
