// The nearest that ns-3 has to a packet over two hops of our fabric: point-to-point devices of 100 Gb/s and 1 us, a
// node in the middle, packets of 4096 bytes as fast as the link takes them.
//   raw     the middle passes frames from device to device: no headers but PPP
//   udp     UDP over IPv4, the middle routes: headers as RoCE v2 has them
// Nothing else of RoCE (acknowledgements, flow control) takes part, so ns-3 does less than bench_fabric does.
#include <cstdio>
#include <ctime>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

using namespace ns3;

namespace {

constexpr std::uint32_t kBytes = 4096;
constexpr std::uint32_t kPackets = 200'000;

struct Run {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
};

NetDeviceContainer connect(Ptr<Node> a, Ptr<Node> b) {
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
  link.SetDeviceAttribute("Mtu", UintegerValue(9000));
  link.SetChannelAttribute("Delay", StringValue("1us"));
  link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
  return link.Install(a, b);
}

/// One packet each time that the link is free again.
template <typename Send>
void drive(Run& run, Send send) {
  send();
  if (++run.sent == kPackets) return;
  Simulator::Schedule(PicoSeconds((kBytes + 82) * 80), [&run, send] { drive(run, send); });
}

/// Not before the run: only then does ns-3 set up what the devices need.
template <typename Send>
void start_driving(Run& run, Send send) {
  Simulator::Schedule(Time(0), [&run, send] { drive(run, send); });
}

void report(const char* what, const Run& run, std::clock_t start) {
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("ns-3 %-4s two hops: %u packets delivered in %.2f s of cpu time: %.0f k packets/s\n", what, run.received,
              cpu, run.received / cpu * 1e-3);
}

void raw() {
  NodeContainer nodes(3);
  const NetDeviceContainer first = connect(nodes.Get(0), nodes.Get(1));
  const NetDeviceContainer second = connect(nodes.Get(1), nodes.Get(2));
  Run run;
  const Ptr<NetDevice> out = second.Get(0);
  first.Get(1)->SetReceiveCallback(Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, std::uint16_t, const Address&>(
      [out](Ptr<NetDevice>, Ptr<const Packet> p, std::uint16_t protocol, const Address&) {
        return out->Send(p->Copy(), out->GetBroadcast(), protocol);
      }));
  second.Get(1)->SetReceiveCallback(Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, std::uint16_t, const Address&>(
      [&run](Ptr<NetDevice>, Ptr<const Packet>, std::uint16_t, const Address&) {
        ++run.received;
        return true;
      }));
  const Ptr<NetDevice> source = first.Get(0);
  const std::clock_t start = std::clock();
  start_driving(run, [source] { source->Send(Create<Packet>(kBytes + 82), source->GetBroadcast(), 0x0800); });
  Simulator::Run();
  report("raw", run, start);
  Simulator::Destroy();
}

void udp() {
  NodeContainer nodes(3);
  InternetStackHelper().Install(nodes);
  const NetDeviceContainer first = connect(nodes.Get(0), nodes.Get(1));
  const NetDeviceContainer second = connect(nodes.Get(1), nodes.Get(2));
  Ipv4AddressHelper("10.0.1.0", "255.255.255.0").Assign(first);
  const Ipv4InterfaceContainer far = Ipv4AddressHelper("10.0.2.0", "255.255.255.0").Assign(second);
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  Run run;
  const TypeId kind = TypeId::LookupByName("ns3::UdpSocketFactory");
  const Ptr<Socket> receiver = Socket::CreateSocket(nodes.Get(2), kind);
  receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 4791));
  receiver->SetRecvCallback(Callback<void, Ptr<Socket>>([&run](Ptr<Socket> s) {
    while (s->Recv()) ++run.received;
  }));
  const Ptr<Socket> sender = Socket::CreateSocket(nodes.Get(0), kind);
  sender->Connect(InetSocketAddress(far.GetAddress(1), 4791));
  const std::clock_t start = std::clock();
  start_driving(run, [sender] { sender->Send(Create<Packet>(kBytes + 28)); });
  Simulator::Run();
  report("udp", run, start);
  Simulator::Destroy();
}

}  // namespace

int main() {
  raw();
  udp();
  return 0;
}
