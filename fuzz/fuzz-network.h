// SPDX-License-Identifier: GPL-2.0-only

#ifndef FUZZ_NETWORK_H
#define FUZZ_NETWORK_H

#include "fuzz-message.h"

#include "ns3/federated-dataset.h"
#include "ns3/federated-port.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4.h"
#include "ns3/learning-task.h"
#include "ns3/logistic-model.h"
#include "ns3/message-bodies.h"
#include "ns3/node-container.h"
#include "ns3/node.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

namespace ns3::fuzz
{

/** A node of a center with a wire to each of some other nodes, and a task of 18 coordinates. */
class TinyNetwork
{
  public:
    static constexpr uint32_t DIMENSION = 18; //!< 2 classes of 8 pixels and a bias.

    /** @param devices How many other nodes. */
    explicit TinyNetwork(uint32_t devices)
    {
        static const FederatedData data = FederatedData::MakeSynthetic(7, 40, 20, 2, 4, 2);
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        task = CreateObject<LearningTask>();
        task->SetData(data);
        task->SetModel(CreateObject<LogisticModel>());
        task->SetGroups({devices});
        task->AssignStreams(100);
        nodes.Create(devices + 1);
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.Install(nodes);
        stack.AssignStreams(nodes, 1000);
        SimpleNetDeviceHelper wires;
        wires.SetNetDevicePointToPointMode(true);
        wires.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        wires.SetChannelAttribute("Delay", StringValue("1ms"));
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.252");
        for (uint32_t i = 0; i < devices; ++i)
        {
            const auto ends =
                addresses.Assign(wires.Install(NodeContainer(nodes.Get(0), nodes.Get(i + 1))));
            centers.push_back(InetSocketAddress(ends.GetAddress(0), FederatedPort::CENTER));
            hosts.push_back(ends.GetAddress(1));
            addresses.NewNetwork();
        }
    }

    TinyNetwork(const TinyNetwork&) = delete;
    TinyNetwork& operator=(const TinyNetwork&) = delete;

    ~TinyNetwork()
    {
        Simulator::Destroy();
    }

    Ptr<LearningTask> task;
    NodeContainer nodes;            //!< The center, then the devices.
    std::vector<Address> centers;   //!< Address of the center as each device knows it.
    std::vector<Ipv4Address> hosts; //!< Of the devices.
};

/**
 * A sender of whatever the input says, over UDP or over TCP with the length before each message.
 */
class Puppet
{
  public:
    /**
     * @param node Where it is.
     * @param isTcp Over which protocol.
     */
    Puppet(const Ptr<Node>& node, bool isTcp)
        : m_isTcp(isTcp),
          m_socket(Socket::CreateSocket(node,
                                        isTcp ? TcpSocketFactory::GetTypeId()
                                              : UdpSocketFactory::GetTypeId()))
    {
    }

    Puppet(const Puppet&) = delete;
    Puppet& operator=(const Puppet&) = delete;

    ~Puppet()
    {
        for (const auto& socket : {m_socket, m_accepted})
        {
            if (socket)
            {
                socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
                socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                          MakeNullCallback<void, Ptr<Socket>, const Address&>());
            }
        }
    }

    /** @param peer Whom to send to; over TCP it connects. */
    void Connect(const Address& peer)
    {
        m_socket->Bind();
        m_socket->SetRecvCallback(MakeCallback(&Puppet::Receive, this));
        m_peer = peer;
        if (m_isTcp)
        {
            m_socket->Connect(peer);
        }
    }

    /** Wait for a peer on the port of centers. */
    void Listen()
    {
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), FederatedPort::CENTER));
        m_socket->SetRecvCallback(MakeCallback(&Puppet::Receive, this));
        if (m_isTcp)
        {
            m_socket->Listen();
            m_socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                        MakeCallback(&Puppet::Accept, this));
        }
    }

    /** @param message The message; not sent if there is no peer. */
    void Send(const Bytes& message)
    {
        const auto size = static_cast<uint32_t>(message.size());
        if (!m_isTcp)
        {
            if (!m_peer.IsInvalid())
            {
                m_socket->SendTo(Create<Packet>(message.data(), size), 0, m_peer);
            }
            return;
        }
        Bytes frame;
        for (int shift : {24, 16, 8, 0})
        {
            frame.push_back(static_cast<uint8_t>(size >> shift));
        }
        frame.insert(frame.end(), message.begin(), message.end());
        const Ptr<Socket>& socket = m_accepted ? m_accepted : m_socket;
        socket->Send(Create<Packet>(frame.data(), static_cast<uint32_t>(frame.size())));
    }

    /** End the connection, over TCP. */
    void Close()
    {
        (m_accepted ? m_accepted : m_socket)->Close();
    }

    FederatedHeader grant; //!< Of the last grant that was received (UDP).
    GrantBody grantBody;   //!< Likewise.
    uint32_t sequence = 0; //!< Of the last control message that was received (UDP).
    uint32_t received = 0; //!< Packets.

  private:
    void Accept(Ptr<Socket> socket, const Address& from)
    {
        m_accepted = socket;
        m_peer = from;
        socket->SetRecvCallback(MakeCallback(&Puppet::Receive, this));
    }

    void Receive(Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            if (packet->GetSize() == 0)
            {
                return;
            }
            ++received;
            m_peer = m_isTcp ? m_peer : from;
            Bytes message(packet->GetSize());
            packet->CopyData(message.data(), packet->GetSize());
            if (m_isTcp)
            {
                message.erase(
                    message.begin(),
                    message.begin() +
                        std::min<std::ptrdiff_t>(4, static_cast<std::ptrdiff_t>(message.size())));
            }
            FederatedHeader header;
            if (header.Read(message.data(), message.size()) != FederatedHeader::READ_OK)
            {
                continue;
            }
            if (header.type == FederatedHeader::GRANT)
            {
                grant = header;
                GrantBody::Read(message.data() + header.GetSize(), header.payloadLength, grantBody);
            }
            if (header.type != FederatedHeader::UPDATE && header.type != FederatedHeader::MODEL)
            {
                sequence = header.sequence;
            }
        }
    }

    bool m_isTcp;
    Ptr<Socket> m_socket;
    Ptr<Socket> m_accepted; // over TCP, of a puppet that listens
    Address m_peer;
};

} // namespace ns3::fuzz

#endif // FUZZ_NETWORK_H
